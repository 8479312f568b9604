"""Describe broker groups under a controller for people: their replicas, and the next master.

A value that was not reported is `None` here (D21). The mark of the protocol for it stays inside.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.db import replica_group_pages
from backend.domain.election import (
    Ballot,
    Candidate,
    judge,
    must_await_lease,
    warn_of_no_writer,
)
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.domain.replica_group import UNKNOWN_POSITION, ReplicaGroup
from backend.services.controller.group_changes import (
    BrokerGroupName,
    Controller,
    GroupView,
    find_groups,
)
from backend.services.controller.replica_groups import describe_group


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """Hold one replica with its last report; positions are bytes of its log."""

    broker_id: int
    address: str
    is_master: bool
    is_in_sync: bool
    is_alive: bool
    last_heartbeat_at: datetime | None
    epoch: int | None
    max_offset: int | None
    confirm_offset: int | None
    is_verified: bool | None
    is_cordoned: bool | None
    protocol_version: int | None


@dataclass(frozen=True, slots=True)
class ReplicaGroupView:
    """Hold one group for people; `view` is its source."""

    view: GroupView
    replicas: tuple[ReplicaView, ...]

    @property
    def group(self) -> ReplicaGroup:
        """Return the group itself."""
        return self.view.group

    @property
    def confirmed_epoch(self) -> int | None:
        """Return the epoch that wrote the last byte known to be confirmed."""
        return _known(self.group.confirmed.epoch)

    @property
    def confirmed_position(self) -> int | None:
        """Return the log position below which no master of the group may end (D27)."""
        return _known(self.group.confirmed.position)

    @property
    def is_master_alive(self) -> bool:
        """Return whether the master sends heartbeats and may continue."""
        is_alive = self.group.master_id in self.view.liveness.alive_ids
        return is_alive and not self.group.is_master_lost


@dataclass(frozen=True, slots=True)
class ElectionView:
    """Hold the next master, the wait before its election, and why the others are not elected.

    `warning` says why the group would take no writes under that master.
    """

    winner_id: int | None
    is_unchanged: bool
    awaits_lease_ms: int
    candidates: tuple[Candidate, ...]
    warning: str | None


async def list_replica_groups(
    cluster_names: Collection[str],
    *,
    size: int,
    after: str | None,
    controller: Controller,
    search: str | None = None,
) -> dict[str, Page[ReplicaGroupView, str]]:
    """List the groups of several clusters by name, with as many statements as for one cluster.

    With `search` only groups whose names contain it. Upper and lower case are the same.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    searched = search_text(search)
    async with controller.database.connect() as connection:
        named = await replica_group_pages.list_names(
            connection, cluster_names, search=searched, after=after, limit=size + 1
        )
        totals = await replica_group_pages.count_of_clusters(
            connection, cluster_names, search=searched
        )
    pages = {
        cluster: cut_page(names, size=size, key=str, total_count=totals[cluster])
        for cluster, names in named.items()
    }
    wanted = [
        BrokerGroupName(name, cluster) for cluster, page in pages.items() for name in page.items
    ]
    views = await describe_replica_groups(wanted, controller)
    return {
        cluster: Page(
            # A group may have been removed since its name was read.
            tuple(
                views[named]
                for named in (BrokerGroupName(name, cluster) for name in page.items)
                if named in views
            ),
            page.next_key,
            page.total_count,
        )
        for cluster, page in pages.items()
    }


async def describe_replica_groups(
    names: Sequence[BrokerGroupName], controller: Controller
) -> dict[BrokerGroupName, ReplicaGroupView]:
    """Describe groups in one statement; those that no controller knows are left out."""
    found = await find_groups(names, controller) if names else []
    return {
        BrokerGroupName(held.group.name, held.group.cluster_name): view_group(held, controller)
        for held in found
    }


async def describe_replica_group(name: BrokerGroupName, controller: Controller) -> ReplicaGroupView:
    """Describe one group.

    Raises:
        BrokerGroupNotControlled: no broker of it ever applied for an id.
    """
    return view_group(await describe_group(name, controller), controller)


def view_group(view: GroupView, controller: Controller) -> ReplicaGroupView:
    """Present a group as it was read."""
    now = controller.clock.now()
    replicas = tuple(
        _view_replica(broker_id, view, now) for broker_id in sorted(view.group.replicas)
    )
    return ReplicaGroupView(view, replicas)


def explain_election(
    view: GroupView, controller: Controller, *, designated_id: int | None = None
) -> ElectionView:
    """Return the next master if an operator asked now, and why each other replica loses.

    Raises:
        BrokerNotRegistered: the requested broker is no replica of the group.
    """
    ballot = Ballot(
        designated_id,
        is_designated=designated_id is not None,
        allows_unclean=controller.allows_unclean,
    )
    election = judge(view.group, view.liveness, ballot)
    winner_id = election.winner_id
    waits = (
        winner_id is not None
        and not election.is_unchanged
        and must_await_lease(view.group, winner_id)
    )
    return ElectionView(
        winner_id=winner_id,
        is_unchanged=election.is_unchanged,
        awaits_lease_ms=view.liveness.lease_left_ms if waits else 0,
        candidates=election.candidates,
        warning=warn_of_no_writer(view.group.name, view.liveness, winner_id),
    )


def _view_replica(broker_id: int, view: GroupView, now: datetime) -> ReplicaView:
    group, report = view.group, view.liveness.reports.get(broker_id)
    ages_ms = [] if report is None else [report.age_ms]
    if broker_id in view.liveness.silences_ms:
        ages_ms.append(view.liveness.silences_ms[broker_id])
    return ReplicaView(
        broker_id=broker_id,
        address=group.replicas[broker_id].address,
        is_master=broker_id == group.master_id,
        is_in_sync=broker_id in group.sync_state_set.members,
        is_alive=report is not None and report.is_alive,
        last_heartbeat_at=now - timedelta(milliseconds=min(ages_ms)) if ages_ms else None,
        epoch=None if report is None else _known(report.epoch),
        max_offset=None if report is None else _known(report.max_offset),
        confirm_offset=None if report is None else _known(report.confirm_offset),
        is_verified=None if report is None else report.is_verified,
        is_cordoned=None if report is None else report.is_cordoned,
        protocol_version=group.replicas[broker_id].protocol_version,
    )


def _known(value: int) -> int | None:
    return None if value == UNKNOWN_POSITION else value
