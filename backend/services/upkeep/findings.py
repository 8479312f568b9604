"""Look for broken invariants, write the events of findings, and list findings (G8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.clients.clock import Clock
from backend.db import events, findings, suspicions
from backend.db.engine import Database
from backend.db.findings import FindingFilter
from backend.domain.event import FINDING_CLOSED, FINDING_OPENED, NewEvent
from backend.domain.finding import RUNBOOKS, Finding, follow, observe
from backend.domain.page import Page, check_page_size, cut_page
from backend.services.cluster.health import list_recorded_facts
from backend.services.share_queue.incidents import find_losses, judge_incidents

__all__ = ["FindingFilter", "ScanOutcome", "list_findings", "scan_findings"]


@dataclass(frozen=True, slots=True)
class ScanOutcome:
    """Count the findings that one check opened and closed, and those open or suspected after it."""

    opened_count: int
    closed_count: int
    present_count: int


async def scan_findings(
    *, database: Database, clock: Clock, looking_since: datetime
) -> ScanOutcome:
    """Check every group once; findings and their events are one transaction.

    Two parallel checks take turns, and a repeated check changes nothing: a finding opens only after
    it was suspected for some time.
    """
    async with database.begin() as connection:
        held = await findings.lock_present(connection)
        incidents = await judge_incidents(connection, clock=clock)
        # Of several incidents of one broker the oldest is shown.
        troubles = dict(one.suspicion for one in reversed(incidents))
        losses = await find_losses(connection, clock=clock)
        now = clock.now()
        seen = observe(
            await findings.list_observed(connection),
            await findings.list_forsaken(connection),
            await list_recorded_facts(connection),
            await findings.list_invalid_items(connection),
            await suspicions.list_all(connection) | troubles | losses,
            looking_since=looking_since,
            at=now,
        )
        changed, dropped = follow(held, seen, at=now)
        await findings.remove(connection, dropped)
        await findings.save(connection, changed)
        opened = [finding for finding in changed if finding.opened_at == now]
        closed = [finding for finding in changed if finding.closed_at == now]
        await events.stage(connection, _events_of(opened, closed, at=now))
    return ScanOutcome(len(opened), len(closed), len(seen.suspicions))


async def list_findings(
    *, size: int, before: int | None, chosen: FindingFilter, database: Database
) -> Page[Finding, int]:
    """List findings, the newest first.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await findings.list_newest(connection, chosen=chosen, before=before, limit=size + 1)
        total = await findings.count(connection, chosen=chosen)
    return cut_page(found, size=size, key=lambda one: one.id or 0, total_count=total)


def _events_of(
    opened: Sequence[Finding], closed: Sequence[Finding], *, at: datetime
) -> list[NewEvent]:
    return [
        NewEvent(
            kind=kind,
            cluster_name=finding.key.cluster_name,
            subject=finding.key.subject,
            happened_at=at,
            details={
                "finding": finding.key.code,
                "severity": RUNBOOKS[finding.key.code].severity,
                "since": finding.suspected_at.isoformat(),
                "evidence": dict(finding.evidence),
            },
        )
        for kind, found in ((FINDING_OPENED, opened), (FINDING_CLOSED, closed))
        for finding in found
    ]
