"""Check what a topic that is not replicated can have, and what it loses (queue-ownership 4.8)."""

from typing import Final

from backend.brokers.requests.properties import IsStock
from backend.db import brokers as broker_rows
from backend.db import topics as topic_rows
from backend.domain.broker_name import BrokerName
from backend.domain.plan import Check, CheckVerdict
from backend.domain.topic_layout import MessageType, TopicLayout
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import masters
from backend.operations.planning.topic_layouts import Places
from backend.rules.attributes import MESSAGE_TYPE, REPLICATE
from backend.services.controller.group_changes import BrokerGroupName, find_group

REFUSED_TYPES: Final = frozenset({MessageType.DELAY, MessageType.TRANSACTION})
"""The types of messages that brokers keep in a topic of theirs first, which is replicated."""

NAMED_MAX: Final = 20


def check_replication(places: Places) -> list[Check]:
    """Check the wished values of a topic that is not replicated.

    Each master refuses what is blocked here as well.
    """
    layouts = [layout for _, layout in places if not layout.is_replicated]
    if not layouts:
        return []
    checks = [_check_owners(layouts)]
    types = {one.attributes.get(MESSAGE_TYPE, MessageType.UNSPECIFIED) for one in layouts}
    name = "type of its messages"
    if refused := sorted(types & REFUSED_TYPES):
        why = f"a topic that is not replicated refuses messages of type {refused[0]}"
        checks.append(Check(name, CheckVerdict.BLOCK, why))
    elif MessageType.MIXED in types:
        why = "delayed and transactional messages among them are refused: it is not replicated"
        checks.append(Check(name, CheckVerdict.WARN, why))
    return checks


async def check_new_replication(
    cluster_name: str, places: Places, context: OperationContext
) -> list[Check]:
    """Check a new topic and its brokers, and say what it loses with each change of the master."""
    names = {one.broker_group_name for one, layout in places if not layout.is_replicated}
    if not names:
        return []
    why = (
        "replicas do not copy them: if another broker becomes master, all messages of the topic in"
        " that broker group are lost, and the topic begins empty"
    )
    loss = Check("messages survive a change of the master", CheckVerdict.WARN, why)
    known = await _check_brokers(cluster_name, names, context)
    return [*check_replication(places), known, loss]


async def check_losses(
    cluster_name: str, broker_group_name: str, context: OperationContext
) -> list[Check]:
    """Warn of the topics that lose their messages if another broker of the group is master."""
    async with context.database.connect() as connection:
        names = await topic_rows.list_unreplicated(
            connection, cluster_name, broker_group_name, limit=NAMED_MAX + 1
        )
    if not names:
        return []
    more = " and more" if len(names) > NAMED_MAX else ""
    why = (
        f"replicas have no messages of {', '.join(names[:NAMED_MAX])}{more}: all messages that the"
        " present master has of them are lost, and the topics begin empty"
    )
    return [Check("topics that are not replicated", CheckVerdict.WARN, why)]


def _check_owners(layouts: list[TopicLayout]) -> Check:
    name = "owners of its share queues"
    if any(one.is_shared for one in layouts):
        why = "only the master has the messages, so no other member can own them: use PRIMARY mode"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "the masters own them")


async def _check_brokers(cluster_name: str, names: set[str], context: OperationContext) -> Check:
    """Check that no broker of the groups is of RocketMQ: such a broker would report no loss.

    Agents report no release, so one that is too old for the attribute is not recognized.
    """
    name = f"brokers know {REPLICATE}"
    async with context.database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [
        one for one in online if one.cluster_name == cluster_name and one.broker_group_name in names
    ]
    answers = await context.brokers.ask_all(asked, IsStock())
    if stock := sorted(str(one.name) for one, is_stock in answers.answers.items() if is_stock):
        why = (
            f"{masters.shortened(stock)} are of RocketMQ, which does not know the attribute:"
            " replace them by brokers of Regent, or leave their broker groups out"
        )
        return Check(name, CheckVerdict.BLOCK, why)
    heard = {one.name for one in answers.answers}
    unknown = {one.name for one in answers.silent}
    unknown |= await _list_strangers(cluster_name, names, context) - heard
    if unknown:
        listed = masters.shortened(map(str, sorted(unknown)))
        why = f"no answer from {listed}, which may be of RocketMQ"
        return Check(name, CheckVerdict.WARN, why)
    why = (
        "no broker is of RocketMQ; the release of a broker is not known, so upgrade all brokers of"
        " a group first"
    )
    return Check(name, CheckVerdict.PASS, why)


async def _list_strangers(
    cluster_name: str, names: set[str], context: OperationContext
) -> set[BrokerName]:
    """List the replicas that have never reported a protocol version, as those of RocketMQ."""
    found = set[BrokerName]()
    for name in names:
        view = await find_group(BrokerGroupName(name, cluster_name), context.controller)
        replicas = () if view is None else view.group.replicas.values()
        found |= {BrokerName(name, o.broker_id) for o in replicas if o.protocol_version is None}
    return found
