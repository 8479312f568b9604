"""Choose which logical queues of a static topic move, and where to (logical-queues.md 8, 19.5)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from backend.db import logical_queues
from backend.db.logical_queues import StoredChange
from backend.domain.errors import BrokerGroupNotFound
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.move_planning import (
    plan_evacuation,
    plan_remapping,
    plan_spread,
)
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.plan_checks import ClusterGroups
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.parameter import kind_name
from backend.domain.orders.static_topic import MoveQueues, ShrinkStaticTopic
from backend.operations.engine.kind import OperationContext


def check_choice(order: MoveQueues) -> None:
    """Check that an order chooses its moves in one way.

    Raises:
        InvalidParameters: it does not.
    """
    kind = kind_name(MoveQueues)
    ways = (order.destination, order.leaving, order.onto, order.targets or None, order.takes_back)
    if sum(one is not None for one in ways) != 1:
        raise InvalidParameters(kind, "give one of destination, leaving, onto and targets")
    if order.queues and order.destination is None:
        raise InvalidParameters(kind, "queues go with a destination")
    if order.force_offset is not None and not order.force:
        raise InvalidParameters(kind, "force_offset goes with force")


def choose_moves(
    order: MoveQueues, mapping: TopicMapping, groups: ClusterGroups, *, now_ms: int
) -> tuple[Relocation, ...]:
    """Return the moves that an order chooses; a queue that is there already does not move.

    Queues leave a broker group for others whose master answers. The plan checks all other masters.

    Raises:
        BrokerGroupNotFound: a named broker group does not exist. QueueMappingBroken: the mapping
        has findings. QueueChangeRefused: a queue is unknown, or the rules forbid the moves.
    """
    _check_names(order, mapping, groups)
    if order.destination is not None:
        chosen = order.queues or [one.global_id for one in mapping.queues]
        return moves_to(mapping, dict.fromkeys(chosen, order.destination))
    leaders = {one.leader_name for one in mapping.queues if one.leader_name is not None}
    all_groups = replace(groups, answering=groups.names | leaders)
    if order.leaving is not None:
        change = plan_evacuation(
            mapping, order.leaving, targets=groups.answering, groups=all_groups, now_ms=now_ms
        )
    elif order.onto is not None:
        change = plan_spread(mapping, order.onto, groups=all_groups, now_ms=now_ms)
    else:
        targets = frozenset(order.targets)
        change = plan_remapping(mapping, targets=targets, groups=all_groups, now_ms=now_ms)
    return tuple(one.relocation for one in change.moves)


def moves_to(mapping: TopicMapping, wanted: Mapping[int, str]) -> tuple[Relocation, ...]:
    """Return the moves after which the wanted broker groups, by global id, lead their queues.

    Raises:
        QueueChangeRefused: a queue is unknown.
    """
    led = {one.global_id: one.leader_name or "" for one in mapping.queues}
    if unknown := sorted(wanted.keys() - led.keys()):
        raise QueueChangeRefused(mapping.topic_name, f"there is no logical queue {unknown[0]}")
    return tuple(
        Relocation(global_id, led[global_id], destination)
        for global_id, destination in sorted(wanted.items())
        if led[global_id] != destination
    )


def moves_back(mapping: TopicMapping, former: StoredChange) -> tuple[Relocation, ...]:
    """Return the moves that take the moves of an earlier change back.

    Raises:
        QueueChangeRefused: the topic has less queues now.
    """
    sources = {one.global_id: one.relocation.source for one in former.change.moves}
    return moves_to(mapping, sources)


def moves_text(moves: Iterable[Relocation]) -> str:
    """Write moves as a fact of a plan."""
    parts = [f"{one.global_id}: {one.source} to {one.destination}" for one in moves]
    return ", ".join(parts) or "none"


def read_change_id(kind: str, given: str) -> UUID:
    """Read the id of the operation whose moves are taken back.

    Raises:
        InvalidParameters: it is no id.
    """
    try:
        return UUID(given)
    except ValueError as error:
        raise InvalidParameters(kind, "takes_back is no id of an operation") from error


async def find_former(
    change_id: UUID, topic_name: str, context: OperationContext
) -> StoredChange | None:
    """Return the moves of a topic that are taken back; None if the operation has none.

    Raises:
        QueueChangeRefused: they only go forward.
    """
    async with context.database.connect() as connection:
        found = await logical_queues.find_change(connection, change_id, topic_name)
    if found is not None and found.ended_at is None and found.change.is_committed:
        reason = "queues have moved already: retry the operation, then undo it"
        raise QueueChangeRefused(topic_name, reason)
    return found


def why_nothing_moves(order: MoveQueues) -> str:
    """Say why an order without moves has none."""
    if order.leaving is not None:
        return f"{order.leaving} leads no queue of the topic"
    if order.onto is not None:
        return f"{order.onto} leads its even share of the queues already"
    return "the destination leads all of these queues already"


def _check_names(order: MoveQueues, mapping: TopicMapping, groups: ClusterGroups) -> None:
    named = {one for one in (order.destination, order.onto, *order.targets) if one is not None}
    # A broker group whose records are gone may still lead queues.
    if order.leaving is not None and not mapping.led_by(order.leaving):
        named.add(order.leaving)
    for name in sorted(named - groups.names):
        raise BrokerGroupNotFound(order.cluster_name, name)


async def find_taken_back(
    order: MoveQueues | ShrinkStaticTopic, context: OperationContext
) -> StoredChange | None:
    """Return the change that an order takes back; None for an order that takes back none.

    Raises:
        InvalidParameters: there is none of the id. QueueChangeRefused: it only goes forward, or was
        rolled back.
    """
    if order.takes_back is None:
        return None
    kind = kind_name(type(order))
    found = await find_former(read_change_id(kind, order.takes_back), order.topic_name, context)
    if found is None:
        raise InvalidParameters(kind, "the topic has no change of this id")
    if found.ended_at is not None and not found.change.is_moved:
        raise QueueChangeRefused(order.topic_name, "the change was rolled back")
    return found
