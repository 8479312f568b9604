"""Show name servers and controllers, and their settings of elections and operations."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from backend.domain.name_server import NameServerStatus
from backend.domain.replica_group import LeasePolicy
from backend.services.controller.controllers import (
    ControllerPeer,
    ControllerSetting,
    ControllerView,
)
from backend.views.copying import Copied, copied
from backend.views.field_texts import BROKER_COUNT, TOPIC_COUNT
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class ControllerPeerOut(Copied[ControllerPeer]):
    """A process of the control plane that receives heartbeats of replicas."""

    id: Annotated[UUID, Text("Id of the process.")]
    is_self: Annotated[bool, Text("Whether this is the process that answers.")]
    heard_replica_count: Annotated[
        int, Text("Number of replicas whose heartbeats the process receives.")
    ]
    last_heard_at: Annotated[datetime, Text("Time when the process last wrote that it runs.")]


@dataclass(frozen=True, slots=True)
class ControllerSettingOut(Copied[ControllerSetting]):
    """A setting that decides elections or operations: its variable, and RocketMQ's name for it."""

    name: Annotated[str, Text("Name of the setting.")]
    stock_name: Annotated[
        str | None, Text("Name of the setting in RocketMQ. Null if RocketMQ has none.")
    ]
    value: Annotated[str, Text("Value in force.")]
    default: Annotated[str, Text("Default value.")]
    variable: Annotated[
        str, Text("Environment variable that sets the value at the start of the process.")
    ]
    description: Annotated[str, Text("What the setting decides.")]


@dataclass(frozen=True, slots=True)
class ControllerOut:
    """A process of the control plane. Each process serves every request, so each is leader."""

    address: Annotated[str, Text("Address of the controller for brokers.")]
    is_leader: Annotated[bool, Text("Whether the process serves every request. Each process does.")]
    lease_policy: Annotated[
        LeasePolicy, Text("Lease policy of new broker groups: a lease, or a quorum.")
    ]
    allows_unclean_election: Annotated[
        bool, Text("Whether a replica without all acknowledged messages can become master.")
    ]
    group_count: Annotated[int, Text("Number of broker groups under a controller.")]
    masterless_group_count: Annotated[int, Text("Number of broker groups without a master.")]
    peers: Annotated[
        list[ControllerPeerOut],
        Text("Processes of the control plane that receive heartbeats of replicas."),
    ]
    settings: Annotated[
        list[ControllerSettingOut], Text("Settings that decide elections and operations.")
    ]

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
    """Address of a name server, and the size of its routes."""

    address: Annotated[str, Text("Address of the name server for clients.")]
    started_at: Annotated[datetime, Text("Time when the process started.")]
    route_version: Annotated[Int64, Text("Version of the routes. It grows with each change.")]
    topic_count: Annotated[int, TOPIC_COUNT]
    broker_count: Annotated[int, BROKER_COUNT]
    connection_count: Annotated[int, Text("Number of open connections.")]
