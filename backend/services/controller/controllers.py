"""Describe the controller of this process; every process of the control plane has one (D1)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from backend.db import replica_group_pages
from backend.domain.operation_approval import SecondPerson
from backend.domain.replica_group import LeasePolicy
from backend.services.controller.group_changes import Controller

# A process that receives heartbeats writes its presence twice a second.
LISTENER_SILENCE_MAX: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class ControllerPeer:
    """Hold a process of the control plane that receives heartbeats of replicas."""

    id: UUID
    is_self: bool
    heard_replica_count: int
    last_heard_at: datetime


@dataclass(frozen=True, slots=True)
class ControllerSetting:
    """Hold a setting of elections or operations. It is fixed while the process runs.

    No request changes it (D26). To change it, set the variable and restart each process.
    """

    name: str
    stock_name: str | None
    value: str
    default: str
    variable: str
    description: str


@dataclass(frozen=True, slots=True)
class ControllerView:
    """Hold the settings of elections and operations, the number of groups, and the peers."""

    address: str
    is_leader: bool
    lease_policy: LeasePolicy
    allows_unclean_election: bool
    group_count: int
    masterless_group_count: int
    peers: tuple[ControllerPeer, ...]
    settings: tuple[ControllerSetting, ...]


def list_settings(
    controller: Controller, second_person: SecondPerson
) -> tuple[ControllerSetting, ...]:
    """List the settings of elections and operations, with their default values."""
    return (
        ControllerSetting(
            name="lease_policy",
            stock_name=None,
            value=controller.lease_policy,
            default=LeasePolicy.QUORUM,
            variable="REGENT_LEASE_POLICY",
            description="what masters of new groups need to acknowledge a message",
        ),
        ControllerSetting(
            name="unclean_election_allowed",
            stock_name="enableElectUncleanMaster",
            value=str(controller.allows_unclean).lower(),
            default="false",
            variable="REGENT_UNCLEAN_ELECTION_ALLOWED",
            description="whether a replica without all acknowledged messages can become master",
        ),
        ControllerSetting(
            name="second_person",
            stock_name=None,
            value=second_person,
            default=SecondPerson.NONE,
            variable="REGENT_SECOND_PERSON",
            description="lowest risk class that needs the approval of another user",
        ),
    )


async def describe_controller(
    address: str, controller: Controller, *, second_person: SecondPerson
) -> ControllerView:
    """Describe this process as a controller. Every process is leader."""
    async with controller.database.connect() as connection:
        counts = await replica_group_pages.count_groups(connection)
        listeners = await replica_group_pages.list_listeners(connection, since=LISTENER_SILENCE_MAX)
    return ControllerView(
        address=address,
        is_leader=True,
        lease_policy=controller.lease_policy,
        allows_unclean_election=controller.allows_unclean,
        group_count=counts.group_count,
        masterless_group_count=counts.masterless_group_count,
        peers=tuple(
            ControllerPeer(
                id=listener.id,
                is_self=listener.id == controller.heartbeat_source.id,
                heard_replica_count=listener.replica_count,
                last_heard_at=listener.heard_at,
            )
            for listener in listeners
        ),
        settings=list_settings(controller, second_person),
    )
