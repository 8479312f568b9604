"""Let go of what is older than it is kept, some at a time, and say beforehand what would go.

Each part is idempotent and each batch a transaction of its own, so that a run that is cut off
anywhere is gone on with by the next.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from backend.clients.clock import Clock
from backend.db import audit, events, findings, retention
from backend.db.engine import Connection, Database
from backend.domain.operation import Author
from backend.domain.retention import Expiry, RetentionPolicy, Subject

if TYPE_CHECKING:
    # Loads Parquet's libraries, which the control plane has no use for.
    from backend.clients.sample_history import SampleHistory

REMOVED_AT_ONCE_MAX: Final = 2_000

Remove = Callable[[Connection], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class RetentionOutcome:
    """Count what was let go; events have a task of their own."""

    group_change_count: int
    operation_count: int
    finding_count: int
    audit_entry_count: int
    sample_file_count: int


async def preview_retention(
    policy: RetentionPolicy, *, database: Database, clock: Clock
) -> list[Expiry]:
    """Say of each subject how much would go if it was let go now; nothing changes."""
    now = clock.now()
    before = {subject: policy.cutoff(subject, at=now) for subject in Subject}
    async with database.connect() as connection:
        counts = {
            Subject.GROUP_CHANGES: await retention.count_group_changes(
                connection, before=before[Subject.GROUP_CHANGES]
            ),
            Subject.OPERATIONS: await retention.count_operations(
                connection, before=before[Subject.OPERATIONS]
            ),
            Subject.FINDINGS: await findings.count_closed(
                connection, before=before[Subject.FINDINGS]
            ),
            Subject.EVENTS: await events.count_expired(
                connection, kept_max=policy.events_max, kept_since=before[Subject.EVENTS]
            ),
            Subject.AUDIT: await audit.count_old(connection, before=before[Subject.AUDIT]),
            Subject.SAMPLES: await retention.count_sample_files(
                connection, before=policy.samples_kept_since(at=now)
            ),
        }
    return [
        Expiry(subject, policy.kept_for(subject), before[subject], counts[subject])
        for subject in Subject
    ]


async def apply_retention(
    policy: RetentionPolicy,
    *,
    author: Author,
    history: "SampleHistory",
    database: Database,
    clock: Clock,
) -> RetentionOutcome:
    """Let go of all that is older than it is kept."""
    now = clock.now()
    limit = REMOVED_AT_ONCE_MAX

    def before(subject: Subject) -> datetime:
        return policy.cutoff(subject, at=now)

    async def repeat(remove: Remove) -> int:
        return await _repeat(remove, database)

    return RetentionOutcome(
        group_change_count=await repeat(
            lambda connection: retention.remove_group_changes(
                connection, before=before(Subject.GROUP_CHANGES), limit=limit
            )
        ),
        operation_count=await repeat(
            lambda connection: retention.remove_operations(
                connection, before=before(Subject.OPERATIONS), limit=limit
            )
        ),
        finding_count=await repeat(
            lambda connection: findings.remove_closed(
                connection, before=before(Subject.FINDINGS), limit=limit
            )
        ),
        audit_entry_count=await repeat(
            lambda connection: audit.let_go(
                connection, author, before=before(Subject.AUDIT), limit=limit, at=now
            )
        ),
        sample_file_count=await _let_go_samples(policy, history, database, now),
    )


async def _repeat(remove: Remove, database: Database) -> int:
    """Remove batch after batch until nothing is left; what waits for another goes after it."""
    count, removed = 0, 1
    while removed:
        async with database.begin() as connection:
            removed = await remove(connection)
        count += removed
    return count


async def _let_go_samples(
    policy: RetentionPolicy, history: "SampleHistory", database: Database, now: datetime
) -> int:
    first_kept = policy.samples_kept_since(at=now)
    async with database.begin() as connection:
        count = await retention.remove_sample_files(connection, before=first_kept)
    # Files last: one that no manifest names is no harm, one that is named and gone is.
    await asyncio.to_thread(history.remove_days, first_kept)
    return count
