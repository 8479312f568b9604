"""Store brokers that claim an id of a lost group until an operator adopts them (D6).

All instants are of the clock of Postgres. A broker without a heartbeat for a day is removed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, select, text, tuple_

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import adoption_candidates
from backend.domain.adoption import Candidate
from backend.domain.cluster_scope import ClusterScope

COUNT_MAX: Final = 10_000

# (cluster, broker group, broker id)
CandidateKey = tuple[str, str, int]

# A claim with another code is accepted only after the first one was silent for a minute.
_SAVE: Final = text("""
INSERT INTO adoption_candidates AS held (
    cluster_name, broker_group_name, broker_id, address, register_code, epoch, max_offset,
    master_id, is_verified, protocol_version, first_heard_at, heard_at)
SELECT :cluster_name, :broker_group_name, :broker_id, :address, CAST(:register_code AS text),
       CAST(:epoch AS integer), CAST(:max_offset AS bigint), CAST(:master_id AS bigint),
       CAST(:is_verified AS boolean), CAST(:protocol_version AS integer), clock_timestamp(),
       clock_timestamp()
 WHERE (SELECT count(*) FROM adoption_candidates) < :count_max
    OR EXISTS (SELECT FROM adoption_candidates c
                WHERE c.cluster_name = :cluster_name AND c.broker_group_name = :broker_group_name
                  AND c.broker_id = :broker_id)
    ON CONFLICT (cluster_name, broker_group_name, broker_id) DO UPDATE
   SET address = EXCLUDED.address, register_code = EXCLUDED.register_code,
       epoch = EXCLUDED.epoch, max_offset = EXCLUDED.max_offset,
       master_id = EXCLUDED.master_id, is_verified = EXCLUDED.is_verified,
       protocol_version = EXCLUDED.protocol_version, heard_at = EXCLUDED.heard_at
 WHERE held.register_code IS NOT DISTINCT FROM EXCLUDED.register_code
    OR held.heard_at < clock_timestamp() - interval '1 minute'
RETURNING broker_id
""")

_FORGET_OLD: Final = text(
    "DELETE FROM adoption_candidates WHERE heard_at < clock_timestamp() - interval '1 day'"
)


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """Hold a candidate with the group that it claims, and the time of its first claim."""

    cluster_name: str
    broker_group_name: str
    candidate: Candidate
    first_heard_at: datetime
    heard_at: datetime

    @property
    def key(self) -> CandidateKey:
        """Return the key of the candidate."""
        return (self.cluster_name, self.broker_group_name, self.candidate.broker_id)


async def save(
    connection: Connection, cluster_name: str, broker_group_name: str, candidate: Candidate
) -> bool:
    """Store a claim; return False if another claim is valid, or if there are too many."""
    values = {
        "cluster_name": cluster_name,
        "broker_group_name": broker_group_name,
        "broker_id": candidate.broker_id,
        "address": candidate.address,
        "register_code": candidate.register_code,
        "epoch": candidate.epoch,
        "max_offset": candidate.max_offset,
        "master_id": candidate.master_id,
        "is_verified": candidate.is_verified,
        "protocol_version": candidate.protocol_version,
        "count_max": COUNT_MAX,
    }
    return (await connection.execute(_SAVE, values)).first() is not None


async def list_all(
    connection: Connection, *, after: CandidateKey | None, within: ClusterScope, limit: int
) -> list[StoredCandidate]:
    """List candidates of clusters within reach by cluster, group and id."""
    table = adoption_candidates
    key = tuple_(table.c.cluster_name, table.c.broker_group_name, table.c.broker_id)
    statement = _select().where(*reached(within, table.c.cluster_name))
    statement = statement.order_by(*key).limit(limit)
    if after is not None:
        statement = statement.where(key > after)
    return [_stored(row) for row in (await connection.execute(statement)).mappings()]


async def list_of_group(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> dict[int, Candidate]:
    """List the candidates of one group by id."""
    table = adoption_candidates
    statement = _select().where(
        table.c.cluster_name == cluster_name, table.c.broker_group_name == broker_group_name
    )
    rows = (await connection.execute(statement)).mappings()
    return {row["broker_id"]: _stored(row).candidate for row in rows}


async def count(connection: Connection, *, within: ClusterScope) -> int:
    """Count candidates of clusters within reach."""
    table = adoption_candidates
    statement = select(func.count()).select_from(table)
    statement = statement.where(*reached(within, table.c.cluster_name))
    return int((await connection.execute(statement)).scalar_one())


async def remove(
    connection: Connection, cluster_name: str, broker_group_name: str, broker_ids: Collection[int]
) -> None:
    """Remove candidates of a group."""
    table = adoption_candidates
    await connection.execute(
        delete(table).where(
            table.c.cluster_name == cluster_name,
            table.c.broker_group_name == broker_group_name,
            table.c.broker_id.in_(broker_ids),
        )
    )


async def forget_old(connection: Connection) -> None:
    """Remove candidates without a heartbeat for a day."""
    await connection.execute(_FORGET_OLD)


def _select() -> Any:
    silent_ms = 1000 * func.extract(
        "epoch", func.clock_timestamp() - adoption_candidates.c.heard_at
    )
    return select(adoption_candidates, silent_ms.label("silent_ms"))


def _stored(row: Mapping[Any, Any]) -> StoredCandidate:
    candidate = Candidate(
        broker_id=row["broker_id"],
        address=row["address"],
        register_code=row["register_code"],
        silent_ms=max(0, int(row["silent_ms"])),
        epoch=row["epoch"],
        max_offset=row["max_offset"],
        master_id=row["master_id"],
        is_verified=row["is_verified"],
        protocol_version=row["protocol_version"],
    )
    return StoredCandidate(
        cluster_name=row["cluster_name"],
        broker_group_name=row["broker_group_name"],
        candidate=candidate,
        first_heard_at=row["first_heard_at"],
        heard_at=row["heard_at"],
    )
