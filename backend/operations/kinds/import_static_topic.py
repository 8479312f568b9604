"""Restore a static topic from a mapping file or from its brokers, and go on with its change."""

from dataclasses import dataclass
from typing import Final

from backend.db import logical_queues
from backend.domain.logical_queue.change import QueueChange
from backend.domain.orders.static_topic import ImportStaticTopic
from backend.domain.plan import Check, CheckVerdict, Plan, Precondition, Risk, no_undo
from backend.operations.actions.queue_moves import PrepareQueues, SwitchQueues
from backend.operations.actions.static_topics import BeginImport, SpreadMapping, count_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, queue_moves, static_topics
from backend.services.logical_queue.changes import check_no_change
from backend.services.logical_queue.copies import TopicHolders, ask_holders

KIND_NAME: Final = "import_static_topic"
IN_FLIGHT: Final = 4


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answers of the masters, the action that records the mapping, and the change."""

    holders: TopicHolders
    begin: BeginImport
    change: QueueChange


async def read_facts(order: ImportStaticTopic, context: OperationContext) -> Facts[Present]:
    """Read the mapping in the database if there is one, and the copies of the brokers.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. InvalidQueueMapping: the file is malformed. QueueMappingBroken: the mapping
        breaks an invariant. QueueChangeRefused: a change of the topic is not finished, or the file
        is refused.
    """
    masters.check_topic(order.topic_name)
    holders = await ask_holders(
        order.cluster_name, order.topic_name, database=context.database, brokers=context.brokers
    )
    async with context.database.connect() as connection:
        stored = await logical_queues.find(connection, order.cluster_name, order.topic_name)
    if stored is not None:
        check_no_change(stored)
    mapping = None if stored is None else stored.mapping
    begin = BeginImport(
        order.cluster_name,
        order.topic_name,
        order.document,
        order.force,
        None if mapping is None else mapping.epoch,
    )
    change = begin.plan(mapping, holders, context)
    texts = [f"{one.global_id}: {one.step}" for one in change.moves]
    epoch = "no topic" if mapping is None else str(mapping.epoch)
    return Facts(
        Present(holders, begin, change),
        (
            Precondition("epoch of the mapping", epoch),
            Precondition("queues that move", ", ".join(texts) or "none"),
        ),
        (
            static_topics.check_answers(holders, change.after.counts.keys()),
            _check_kind(holders),
        ),
    )


async def preview(
    order: ImportStaticTopic, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe the mapping, and the moves that go on."""
    change = facts.seen.change
    moves = [one.relocation for one in change.moves]
    ids = [one.global_id for one in change.after.queues]
    named = {name for one in moves for name in (one.source, one.destination)}
    summary = f"Static topic {order.topic_name} gets the mapping of {_source(order)}"
    if moves:
        summary += f", and {count_queues(len(moves))} go on to move"
    return Plan(
        summary=summary,
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(facts.seen)),
        changes=static_topics.differences(change.before, change.after),
        impact=("Brokers with an older mapping get this one",),
        checks=(
            *facts.checks,
            *await static_topics.check_sets(order.cluster_name, named, context),
        ),
        way_back="Roll the moves back as long as no queue has moved; move them back after the end"
        if moves
        else no_undo("a mapping is not taken back"),
        facts={
            "moves": queue_moves.moves_text(moves),
            "segments": static_topics.pictures(change.after, change.after, ids),
        },
    )


def _source(order: ImportStaticTopic) -> str:
    return "its brokers" if order.document is None else "the file"


def _actions(present: Present) -> list[Action]:
    begin, change = present.begin, present.change
    names = begin.cluster_name, begin.topic_name
    actions: list[Action] = [begin]
    open_ids = [one.global_id for one in change.moves]
    for at in range(0, len(open_ids), IN_FLIGHT):
        part = tuple(open_ids[at : at + IN_FLIGHT])
        actions += [PrepareQueues(*names, part), SwitchQueues(*names, part)]
    return [*actions, SpreadMapping(*names)]


def _check_kind(holders: TopicHolders) -> Check:
    """Check that no broker group has an ordinary topic of the name (INV-37)."""
    name = "no ordinary topic has the name"
    ordinary = [
        one
        for one, held in holders.masters.items()
        if held.layout is not None and held.layout.mapping is None
    ]
    if ordinary:
        why = f"{masters.shortened(sorted(ordinary))}: convert the topic instead"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "all broker groups that have it have a mapping")


KIND: Final = Kind(
    KIND_NAME,
    ImportStaticTopic,
    read_facts,
    preview,
    (BeginImport, PrepareQueues, SwitchQueues, SpreadMapping),
)
