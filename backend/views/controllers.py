"""Show name servers and controllers, and what decides elections and operations there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from backend.domain.name_server import NameServerStatus
from backend.domain.replica_group import LeasePolicy
from backend.services.controller.controllers import (
    ControllerPeer,
    ControllerSetting,
    ControllerView,
)
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class ControllerPeerOut(Copied[ControllerPeer]):
    """A process of the control plane that hears replicas."""

    id: UUID
    is_self: bool
    heard_replica_count: int
    last_heard_at: datetime


@dataclass(frozen=True, slots=True)
class ControllerSettingOut(Copied[ControllerSetting]):
    """A setting that decides elections or operations: its variable, and RocketMQ's name for it."""

    name: str
    stock_name: str | None
    value: str
    default: str
    variable: str
    description: str


@dataclass(frozen=True, slots=True)
class ControllerOut:
    """A process of the control plane; each may carry out every request, so each leads."""

    address: str
    is_leader: bool
    lease_policy: LeasePolicy
    allows_unclean_election: bool
    group_count: int
    masterless_group_count: int
    peers: list[ControllerPeerOut]
    settings: list[ControllerSettingOut]

    @classmethod
    def of(cls, found: ControllerView) -> Self:
        """Show a controller."""
        return copied(
            cls,
            found,
            peers=[ControllerPeerOut.of(one) for one in found.peers],
            settings=[ControllerSettingOut.of(one) for one in found.settings],
        )


@dataclass(frozen=True, slots=True)
class NameServerOut(Copied[NameServerStatus]):
    """Where a name server listens, and how much it holds."""

    address: str
    started_at: datetime
    route_version: Int64
    topic_count: int
    broker_count: int
    connection_count: int
