"""Warn if a change leaves a broker group without a writer, now or after one failure."""

from dataclasses import replace
from typing import Final

from backend.db import health
from backend.db.engine import Database
from backend.domain.health import GroupFacts, judge_group, list_heirs
from backend.domain.plan import Check, CheckVerdict
from backend.services.cluster.health import read_facts

WRITER: Final = "a writer stays"


async def check_cordon(
    cluster_name: str,
    broker_group_name: str,
    address: str,
    *,
    database: Database,
    heir_id: int | None = None,
) -> Check:
    """Name the writer of a group without this broker, and a possible successor.

    With an heir, that replica is master afterwards.
    """
    async with database.connect() as connection:
        rows = await health.list_groups(
            connection, cluster_name=cluster_name, broker_group_names=[broker_group_name]
        )
    facts = read_facts(rows, full_disks=(), listener=None)
    if not facts:
        why = f"what the brokers of {broker_group_name} can do is not known"
        return Check(WRITER, CheckVerdict.WARN, why)
    return judge_cordon(facts[0], address, heir_id=heir_id)


def judge_cordon(facts: GroupFacts, address: str, *, heir_id: int | None = None) -> Check:
    """Check the rest of a group without the write permission of the broker at an address."""
    brokers = tuple(
        replace(one, is_cordoned=True) if one.address == address else one for one in facts.brokers
    )
    master_id = facts.master_id if heir_id is None else heir_id
    after = replace(facts, brokers=brokers, master_id=master_id)
    judged = judge_group(after)
    name, master = facts.broker_group_name, after.master
    if judged.has_writer is False:
        text = "nothing else of it can take messages"
        if master is not None and master.is_cordoned:
            text = f"its master {after.name_of(master)} is cordoned, and no other may take over"
            if list_heirs(after):
                text = f"its master {after.name_of(master)} is cordoned; elect another first"
        return Check(WRITER, CheckVerdict.WARN, f"{name} has no writer then: {text}")
    if judged.has_writer is None or master is None:
        return Check(WRITER, CheckVerdict.WARN, f"whether {name} has a writer then is not known")
    master_name = after.name_of(master)
    if not list_heirs(after) and list_heirs(facts):
        why = (
            f"{master_name} is the only broker of {name} that takes messages then: if it fails,"
            f" {name} has no writer"
        )
        return Check(WRITER, CheckVerdict.WARN, why)
    return Check(WRITER, CheckVerdict.PASS, f"{master_name} takes messages")
