"""Delete expired records in batches, and report beforehand which records would be deleted.

Each part is idempotent and each batch is a separate transaction, so that the next run continues an
interrupted one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from backend.clients.clock import Clock
from backend.db import audit, events, findings, retention, share_incidents
from backend.db.engine import Connection, Database
from backend.domain.operation import Author
from backend.domain.retention import Expiry, RetentionPolicy, Subject

if TYPE_CHECKING:
    # Loads the libraries of Parquet, which the control plane does not need.
    from backend.clients.sample_history import SampleHistory

REMOVED_AT_ONCE_MAX: Final = 2_000

Remove = Callable[[Connection], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class RetentionOutcome:
    """Count the deleted records; events have a separate task."""

    group_change_count: int
    operation_count: int
    finding_count: int
    incident_count: int
    audit_entry_count: int
    sample_file_count: int


async def preview_retention(
    policy: RetentionPolicy, *, database: Database, clock: Clock
) -> list[Expiry]:
    """Return for each subject how many records would be deleted now; nothing changes."""
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
            Subject.INCIDENTS: await share_incidents.count_resolved(
                connection, before=before[Subject.INCIDENTS]
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
    """Delete all expired records."""
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
        incident_count=await repeat(
            lambda connection: share_incidents.remove_resolved(
                connection, before=before(Subject.INCIDENTS), limit=limit
            )
        ),
        audit_entry_count=await repeat(
            lambda connection: audit.expire(
                connection, author, before=before(Subject.AUDIT), limit=limit, at=now
            )
        ),
        sample_file_count=await _expire_samples(policy, history, database, now),
    )


async def _repeat(remove: Remove, database: Database) -> int:
    """Delete batch after batch until none remains; records that others refer to come later."""
    count, removed = 0, 1
    while removed:
        async with database.begin() as connection:
            removed = await remove(connection)
        count += removed
    return count


async def _expire_samples(
    policy: RetentionPolicy, history: "SampleHistory", database: Database, now: datetime
) -> int:
    first_kept = policy.samples_kept_since(at=now)
    async with database.begin() as connection:
        count = await retention.remove_sample_files(connection, before=first_kept)
    # Files last: a file without a manifest entry does no harm, an entry without a file does.
    await asyncio.to_thread(history.remove_days, first_kept)
    return count
