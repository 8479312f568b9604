"""Say what orders to create and to delete consumer groups hold: each takes the other back."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from backend.services.operations.group_settings import (
    Minutes,
    PlacedSettings,
    RetryCount,
    RetryQueueCount,
)
from backend.services.operations.masters import BrokerGroups


@dataclass(frozen=True, slots=True)
class CreateConsumerGroup:
    """Create a consumer group on the broker groups named, or on all of the cluster.

    Instead, `settings` may give each broker group's whole settings; that takes a deletion back.
    """

    cluster_name: str
    group_name: str
    broker_groups: BrokerGroups = ()
    consume_enabled: bool = True
    broadcast_allowed: bool = True
    consume_from_min_enabled: bool = True
    is_ordered: bool = False
    retry_count_max: RetryCount = 16
    retry_queue_count: RetryQueueCount = 1
    consume_timeout_minutes: Minutes = 15
    notifies_members: bool = True
    settings: Annotated[tuple[PlacedSettings, ...], msgspec.Meta(max_length=500)] = ()

    @property
    def target(self) -> str:
        """Name the group."""
        return self.group_name


@dataclass(frozen=True, slots=True)
class DeleteConsumerGroup:
    """Delete a consumer group on the broker groups named, or on all that know it."""

    cluster_name: str
    group_name: str
    broker_groups: BrokerGroups = ()
    cleans_up: bool = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.group_name
