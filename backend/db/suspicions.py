"""Store what periodic checks suspect, as of their last run; `findings.scan` follows it."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.maintenance_tables import suspicions
from backend.domain.finding import Evidence, FindingCode, FindingKey


async def save(
    connection: Connection, found: Mapping[FindingKey, Evidence], *, at: datetime
) -> None:
    """Write suspicions, or what they are now."""
    for key in sorted(found, key=lambda one: (one.cluster_name, one.subject, one.code)):
        names = {"cluster_name": key.cluster_name, "subject": key.subject, "code": key.code}
        values = {"evidence": dict(found[key]), "seen_at": at}
        statement = insert(suspicions).values(**names, **values)
        await connection.execute(
            statement.on_conflict_do_update(index_elements=list(names), set_=values)
        )


async def clear(
    connection: Connection,
    codes: Collection[FindingCode],
    cluster_name: str,
    *,
    spared: Collection[str] = (),
) -> None:
    """Remove the suspicions of a cluster, except those about what could not be judged (D21)."""
    columns = suspicions.c
    await connection.execute(
        delete(suspicions).where(
            columns.code.in_(codes),
            columns.cluster_name == cluster_name,
            columns.subject.not_in(spared),
        )
    )


async def forget_clusters(
    connection: Connection, codes: Collection[FindingCode], known: Collection[str]
) -> None:
    """Remove the suspicions of clusters without an online broker."""
    columns = suspicions.c
    await connection.execute(
        delete(suspicions).where(columns.code.in_(codes), columns.cluster_name.not_in(known))
    )


async def list_all(connection: Connection) -> dict[FindingKey, Evidence]:
    """List the present suspicions."""
    rows = (await connection.execute(select(suspicions))).mappings()
    return {
        FindingKey(FindingCode(row["code"]), row["cluster_name"], row["subject"]): row["evidence"]
        for row in rows
    }
