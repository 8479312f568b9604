"""Store the contradictions between members of consumer groups, as of the last check."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.maintenance_tables import member_contradictions
from backend.domain.finding import Evidence, FindingCode, FindingKey
from backend.domain.membership import Contradiction


@dataclass(frozen=True, slots=True)
class FoundContradictions:
    """Hold the contradictions in one cluster, and whether all of its brokers answered."""

    cluster_name: str
    found: Sequence[Contradiction]
    is_complete: bool


async def replace(connection: Connection, answer: FoundContradictions, *, at: datetime) -> None:
    """Replace the former contradictions of clusters.

    While a broker does not answer, no contradiction ends: its members may be part of one (D21).
    """
    columns = member_contradictions.c
    if answer.is_complete:
        await connection.execute(
            delete(member_contradictions).where(columns.cluster_name == answer.cluster_name)
        )
    for one in sorted(answer.found, key=lambda found: (found.consumer_group_name, found.code)):
        values = {
            "cluster_name": answer.cluster_name,
            "consumer_group_name": one.consumer_group_name,
            "code": one.code,
            "evidence": dict(one.evidence),
            "seen_at": at,
        }
        statement = insert(member_contradictions).values(**values)
        await connection.execute(
            statement.on_conflict_do_update(
                index_elements=["cluster_name", "consumer_group_name", "code"],
                set_={"evidence": values["evidence"], "seen_at": at},
            )
        )


async def forget_clusters(connection: Connection, known: Collection[str]) -> None:
    """Remove the contradictions of clusters without an online broker."""
    columns = member_contradictions.c
    await connection.execute(
        delete(member_contradictions).where(columns.cluster_name.not_in(known))
    )


async def list_all(connection: Connection) -> dict[FindingKey, Evidence]:
    """List the present contradictions as suspicions."""
    rows = (await connection.execute(select(member_contradictions))).mappings()
    return {
        FindingKey(FindingCode(row["code"]), row["cluster_name"], row["consumer_group_name"]): row[
            "evidence"
        ]
        for row in rows
    }
