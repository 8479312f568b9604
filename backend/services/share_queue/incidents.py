"""Record, judge and list the incidents of share queues (queue-ownership.md 4.12)."""

from collections.abc import Sequence

from backend.clients.clock import Clock
from backend.db import findings, share_incidents
from backend.db.engine import Connection, Database
from backend.db.pipeline import pipeline_of
from backend.domain.finding import Evidence, FindingKey
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.share_incident import (
    LOSS_SHOWN_FOR,
    IncidentFilter,
    ReportedIncident,
    ShareIncident,
    judge_incident,
    suspect_losses,
)
from backend.domain.share_lease import Member
from backend.services.controller.group_changes import BrokerGroupName


async def record_incidents(
    reported: Sequence[ReportedIncident],
    member: Member,
    cluster_name: str,
    broker_group_name: str,
    *,
    database: Database,
) -> None:
    """Record all incidents that a member reports now; a repeated report changes nothing.

    Raises:
        InvalidName: the name of the cluster or of the broker group is invalid.
    """
    BrokerGroupName(broker_group_name, cluster_name)
    await share_incidents.record(
        pipeline_of(database),
        cluster_name,
        broker_group_name,
        member.broker_id,
        member.life,
        reported,
    )


async def judge_incidents(connection: Connection, *, clock: Clock) -> list[ShareIncident]:
    """Judge all open incidents by the reports of replicas, and return those that stay open.

    No lease heartbeat waits for it, unless the heartbeat names an incident whose end it records.
    """
    held = await share_incidents.list_open(connection)
    if not held:
        return []
    observed = await findings.list_observed(connection)
    groups = {(one.cluster_name, one.broker_group_name): one for one in observed}
    now = clock.now()
    judged = [
        judge_incident(one, groups.get((one.cluster_name, one.broker_group_name)), at=now)
        for one in held
    ]
    pairs = zip(held, judged, strict=True)
    await share_incidents.save(connection, [one for one in pairs if one[0] != one[1]])
    return [one for one in judged if one.resolved_at is None]


async def find_losses(connection: Connection, *, clock: Clock) -> dict[FindingKey, Evidence]:
    """Find the topics that have lost their messages within a day, each with its last loss."""
    lost = await share_incidents.list_lost(connection, since=clock.now() - LOSS_SHOWN_FOR)
    return suspect_losses(lost)


async def list_incidents(
    *, size: int, before: int | None, chosen: IncidentFilter, database: Database
) -> Page[ShareIncident, int]:
    """List incidents, the newest first.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await share_incidents.list_newest(
            connection, chosen=chosen, before=before, limit=size + 1
        )
        total = await share_incidents.count(connection, chosen=chosen)
    return cut_page(found, size=size, key=lambda one: one.id, total_count=total)
