"""Describe a name server as the console shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class NameServerStatus:
    """Hold the address of a name server and the size of its tables now."""

    address: str
    started_at: datetime
    route_version: int
    topic_count: int
    broker_count: int
    connection_count: int
    # By request name and response code, since the start.
    answer_counts: Mapping[tuple[str, int], int] = field(default_factory=dict)
