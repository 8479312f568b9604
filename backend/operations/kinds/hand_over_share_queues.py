"""Hand share queues over to a member of their broker group, for example before it is stopped."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.db import share_leases
from backend.db.pipeline import pipeline_of
from backend.domain.errors import BrokerGroupNotControlled
from backend.domain.operation_errors import InvalidParameters, ShareLeasesNotFound
from backend.domain.orders.share_queue import HandOverShareQueues
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.domain.replica_group import ReplicaGroup
from backend.domain.share_lease import LEASE_TERMS, ShareLease
from backend.domain.share_queue import ShareQueueName
from backend.operations.actions.share_leases import HandOverLeases, count_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.services.controller.group_changes import GroupView, find_group

KIND_NAME: Final = "hand_over_share_queues"
QUEUE_COUNT_MAX: Final = 1_000
"""More share queues are handed over in several operations, so that each plan stays readable."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker group, and the share queues that the order means.

    `successor_id` is the member that gets them, unless an undo names one for each. `moves` has the
    present owner and the next one of each share queue.
    """

    group: ReplicaGroup
    alive_ids: frozenset[int]
    successor_id: int | None
    moves: Mapping[ShareQueueName, tuple[int, int]]


async def read_facts(order: HandOverShareQueues, context: OperationContext) -> Facts[Present]:
    """Read which members own the share queues that the order means.

    Raises:
        InvalidParameters: `queues` is given with what chooses share queues otherwise.
        BrokerGroupNotControlled: no controller leads the broker group.
        ShareLeasesNotFound: no member owns a share queue that is meant.
    """
    if order.queues and not _names_queues_alone(order):
        raise InvalidParameters(KIND_NAME, "queues exclude all other parameters")
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await find_group(name, context.controller)
    if view is None:
        raise BrokerGroupNotControlled(order.broker_group_name)
    leases = await read_leases(order.cluster_name, order.broker_group_name, context)
    alive_ids = frozenset(view.liveness.alive_ids)
    successor_id = order.successor_id
    if successor_id is None and not order.queues:
        successor_id = find_successor(view, order.owner_id)
    wanted = {one.name: one.successor_id for one in order.queues}
    moves = {
        queue: (lease.owner.broker_id, next_id)
        for queue, lease in sorted(leases.items())
        if lease.owner is not None
        and (next_id := wanted.get(queue, successor_id)) is not None
        and lease.owner.broker_id != next_id
        and (queue in wanted if order.queues else _is_meant(order, queue, lease))
    }
    if not moves and (successor_id is not None or order.queues):
        raise ShareLeasesNotFound(order.cluster_name, order.broker_group_name)
    present = Present(
        view.group, alive_ids, successor_id, dict(list(moves.items())[:QUEUE_COUNT_MAX])
    )
    counts = Counter(owner_id for owner_id, _ in moves.values())
    texts = [f"broker {broker_id}: {count}" for broker_id, count in sorted(counts.items())]
    members = ", ".join(map(str, sorted(view.group.sync_state_set.members)))
    return Facts(
        present,
        (
            Precondition("share queues by owner", ", ".join(texts)),
            Precondition("members in sync", members),
        ),
        (_check_successors(present), _check_size(len(moves))),
    )


async def preview(
    order: HandOverShareQueues, facts: Facts[Present], _context: OperationContext
) -> Plan:
    """Say which share queues go from which member to which."""
    present = facts.seen
    places = defaultdict[tuple[int, int], list[ShareQueueName]](list)
    for queue, move in present.moves.items():
        places[move].append(queue)
    actions = [
        HandOverLeases(
            order.cluster_name, order.broker_group_name, owner_id, next_id, tuple(queues)
        )
        for (owner_id, next_id), queues in sorted(places.items())
    ]
    heirs = sorted({next_id for _, next_id in present.moves.values()})
    heirs_text = " and ".join(f"broker {one}" for one in heirs) or "no broker"
    count = count_queues(len(present.moves))
    verb = "goes" if len(present.moves) == 1 else "go"
    return Plan(
        summary=f"{count} of {order.broker_group_name} {verb} to {heirs_text}",
        risk=Risk.SMALL,
        steps=planned_steps(actions),
        changes=tuple(
            Difference(
                f"owner of {queue.topic}/{queue.queue_id} for {queue.consumer_group_name}",
                f"broker {owner_id}",
                f"broker {next_id}",
            )
            for queue, (owner_id, next_id) in present.moves.items()
        ),
        impact=(
            (
                "Each share queue rests for a moment; if its owner does not answer, for"
                f" {LEASE_TERMS.ttl.seconds} s"
            ),
            "Messages in flight stay with their consumers, and are acknowledged as before",
        ),
        checks=facts.checks,
        way_back="Hand them over to their former owner again",
        facts={"successor_ids": heirs, "queue_count": len(present.moves)},
    )


KIND: Final = Kind(KIND_NAME, HandOverShareQueues, read_facts, preview, (HandOverLeases,))


def _names_queues_alone(order: HandOverShareQueues) -> bool:
    plain = HandOverShareQueues(order.cluster_name, order.broker_group_name, queues=order.queues)
    return order == plain


def _is_meant(order: HandOverShareQueues, queue: ShareQueueName, lease: ShareLease) -> bool:
    owner_id = None if lease.owner is None else lease.owner.broker_id
    wishes = (
        (order.owner_id, owner_id),
        (order.consumer_group_name, queue.consumer_group_name),
        (order.topic_name, queue.topic),
        (order.queue_id, queue.queue_id),
    )
    return all(wanted is None or wanted == value for wanted, value in wishes)


def find_successor(view: GroupView, owner_id: int | None) -> int | None:
    """Return the member that takes share queues over: the master, or another one in sync."""
    able = sorted(view.group.sync_state_set.members & view.liveness.alive_ids - {owner_id})
    return view.group.master_id if view.group.master_id in able else next(iter(able), None)


async def read_leases(
    cluster_name: str, broker_group_name: str, context: OperationContext
) -> Mapping[ShareQueueName, ShareLease]:
    """Read the leases of a broker group."""
    key = (cluster_name, broker_group_name)
    found = await share_leases.list_of_groups(pipeline_of(context.database), [key])
    return found.get(key, {})


def _check_successors(present: Present) -> Check:
    name = "the next owner"
    ids = {next_id for _, next_id in present.moves.values()}
    if not ids and present.successor_id is None:
        why = "no other member is in sync and alive: wait for one"
        return Check(name, CheckVerdict.BLOCK, why)
    for successor_id in sorted(ids):
        if successor_id not in present.group.sync_state_set.members:
            why = f"broker {successor_id} is not in sync: name a member of the SyncStateSet"
            return Check(name, CheckVerdict.BLOCK, why)
        if successor_id not in present.alive_ids:
            why = f"broker {successor_id} sends no heartbeat: name a member that does"
            return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "it is in sync and alive")


def _check_size(count: int) -> Check:
    if count <= QUEUE_COUNT_MAX:
        return Check("all of them", CheckVerdict.PASS, f"{count_queues(count)} in one operation")
    why = f"{count_queues(count)} are meant, and this hands over {QUEUE_COUNT_MAX}: order again"
    return Check("all of them", CheckVerdict.WARN, why)
