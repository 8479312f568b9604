"""Choose which logical queues of a static topic move, and where to (logical-queues.md 8, 19.5)."""

from collections.abc import Mapping
from dataclasses import replace

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
from backend.domain.orders.static_topic import MoveQueues


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


def why_nothing_moves(order: MoveQueues) -> str:
    """Say why an order without moves has none."""
    if order.leaving is not None:
        return f"{order.leaving} leads no queue of the topic"
    if order.onto is not None:
        return f"{order.onto} leads its even share of the queues already"
    if order.targets:
        return "the queues are spread evenly over these broker groups already"
    return "the destination leads all of these queues already"


def _check_names(order: MoveQueues, mapping: TopicMapping, groups: ClusterGroups) -> None:
    named = {one for one in (order.destination, order.onto, *order.targets) if one is not None}
    # A broker group whose records are gone may still lead queues.
    if order.leaving is not None and not mapping.led_by(order.leaving):
        named.add(order.leaving)
    for name in sorted(named - groups.names):
        raise BrokerGroupNotFound(order.cluster_name, name)
