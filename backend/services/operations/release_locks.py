"""Release locks of ordered queues: one, or all that a client holds (console-and-cli.md 1.4.4)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final

import msgspec

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.domain.names import check_cluster_name
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import LockNotFound, NotUndoable
from backend.domain.orders.lock import ReleaseLocks
from backend.domain.plan import (
    Agreement,
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
    no_way_back,
)
from backend.domain.queue_lock import (
    BrokerKey,
    HeldLock,
    Holder,
    QueueLock,
)
from backend.services.operations import broker_steps
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork
from backend.services.queue_locks import LockTable, collect_locks

LOCK_COUNT_MAX: Final = 1_000
"""More locks than that are released in several operations, so that a plan can be read."""
SHOWN_COUNT_MAX: Final = 20


async def plan(order: ReleaseLocks, context: OperationContext) -> Plan:
    """Say which locks would be free, and what that risks.

    Raises:
        LockNotFound: no broker that answers holds such a lock.
    """
    check_cluster_name(order.cluster_name)
    table = await _collect(order, context)
    locks = table.locks[:LOCK_COUNT_MAX]
    if not locks:
        where = "" if order.target == order.client_id else f" for {order.target!r}"
        what = f"a lock of client {order.client_id!r}{where}"
        raise LockNotFound(order.cluster_name, what, unknown_count=len(table.unknown))
    is_connected = any(lock.holder is Holder.CONNECTED for lock in locks)
    return Plan(
        summary=f"{_count(locks)} of {order.client_id} {_is(locks)} free for others",
        risk=Risk.SERVICE if is_connected else Risk.SMALL,
        steps=tuple(
            PlannedStep(
                f"release-{number}",
                f"Release {_count(held)} on {broker.group_name} ({broker.address})",
            )
            for number, (broker, held) in enumerate(_by_broker(locks))
        ),
        preconditions=(
            Precondition("locks that are held", _digest(locks)),
            Precondition("holder", Holder.CONNECTED if is_connected else Holder.GONE),
        ),
        changes=tuple(
            Difference(
                f"{lock.queue} for {lock.held.consumer_group}", lock.held.client_id, "nobody"
            )
            for lock in locks[:SHOWN_COUNT_MAX]
        ),
        impact=_impact(locks),
        checks=_checks(order, locks, table, is_connected=is_connected),
        way_back=no_way_back(
            "who has a lock is for the clients to settle; a client that is there asks"
            " for it again when it rebalances, within 20 s"
        ),
        facts={
            "lock_count": len(locks),
            "is_holder_connected": is_connected,
            "brokers": [
                {"broker": asdict(broker), "locks": [asdict(lock.held) for lock in held]}
                for broker, held in _by_broker(locks)
            ],
        },
    )


def steps(
    _order: ReleaseLocks, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Release on each broker the holds that the plan named, if they are still the same."""
    return [_work(broker, held, context) for broker, held in _planned(operation)]


def _work(broker: BrokerKey, held: Sequence[HeldLock], context: OperationContext) -> StepWork:
    async def read() -> Value:
        return await _read_holders(broker, held, context)

    async def release(run: StepRun) -> Value:
        brokers = context.brokers
        fence = broker_steps.fence_of(run)
        await brokers.release_queue_locks(broker.address, held, fence=fence)
        return await read()

    return StepWork(read, release)


async def verify(
    _order: ReleaseLocks, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that none of the planned holds is left; who holds a queue now is told."""
    return [await _read_back(broker, held, context) for broker, held in _planned(operation)]


def undo(_order: ReleaseLocks, _operation: Operation) -> ReleaseLocks:
    """Refuse: nobody can be made to hold a lock.

    Raises:
        NotUndoable: always.
    """
    raise NotUndoable(
        "a lock is taken by the client that consumes; one that is connected asks for it again by"
        " itself, within 20 s (regent lock list)"
    )


KIND: Final = Kind("release_locks", ReleaseLocks, plan, steps, verify, undo)


async def _collect(order: ReleaseLocks, context: OperationContext) -> LockTable:
    return await collect_locks(
        order.chosen,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )


async def _read_holders(
    broker: BrokerKey, planned: Sequence[HeldLock], context: OperationContext
) -> dict[str, Any]:
    """Read who holds the planned queues now, by group and queue."""
    now = await _holds(broker, context)
    return {
        "holders": {
            f"{lock.consumer_group} {lock.topic}/{lock.queue_id}": (
                None if (held := now.get(_queue_of(lock))) is None else held.client_id
            )
            for lock in planned
        }
    }


async def _read_back(
    broker: BrokerKey, planned: Sequence[HeldLock], context: OperationContext
) -> ReadBack:
    what, intended = f"locks on {broker.group_name}", f"none of the {len(planned)} planned"
    try:
        now = await _holds(broker, context)
    except (BrokerUnreachable, BrokerRefused):
        return ReadBack(what, intended, None, Agreement.UNKNOWN)
    held = [now[_queue_of(lock)] for lock in planned if _queue_of(lock) in now]
    old = {(_queue_of(lock), lock.client_id, lock.locked_at_ms) for lock in planned}
    left = [lock for lock in held if (_queue_of(lock), lock.client_id, lock.locked_at_ms) in old]
    if left:
        return ReadBack(what, intended, f"{len(left)} left", Agreement.DIFFERS)
    takers = sorted({lock.client_id for lock in held})
    observed = f"{len(held)} taken by {', '.join(takers)}" if takers else "all free"
    return ReadBack(what, intended, observed, Agreement.AGREES)


async def _holds(
    broker: BrokerKey, context: OperationContext
) -> dict[tuple[str, str, str, int], HeldLock]:
    told = await context.brokers.queue_locks(broker.address)
    return {_queue_of(lock): lock for lock in told.locks}


def _queue_of(lock: HeldLock) -> tuple[str, str, str, int]:
    return (lock.consumer_group, lock.topic, lock.broker_name, lock.queue_id)


def _planned(operation: Operation) -> list[tuple[BrokerKey, list[HeldLock]]]:
    found: Sequence[Mapping[str, Any]] = operation.plan.facts["brokers"]
    return [
        (
            msgspec.convert(one["broker"], BrokerKey),
            msgspec.convert(one["locks"], list[HeldLock]),
        )
        for one in found
    ]


def _by_broker(locks: Sequence[QueueLock]) -> list[tuple[BrokerKey, list[QueueLock]]]:
    ordered = sorted(locks, key=lambda lock: (lock.broker.group_name, lock.broker.address))
    return [(key, list(held)) for key, held in groupby(ordered, key=lambda lock: lock.broker)]


def _digest(locks: Sequence[QueueLock]) -> str:
    """Name the very holds: who locks again after a release holds another."""
    holds = "\n".join(f"{lock.key} {lock.held.locked_at_ms}" for lock in locks)
    return f"{len(locks)} ({hashlib.sha256(holds.encode()).hexdigest()[:12]})"


def _impact(locks: Sequence[QueueLock]) -> tuple[str, ...]:
    groups: dict[str, list[QueueLock]] = {}
    for lock in locks:
        groups.setdefault(lock.held.consumer_group, []).append(lock)
    return tuple(
        f"Consumer group {name}: {_queues(held)} of {len({one.held.topic for one in held})} topics;"
        " its members are told to rebalance, and whoever is given a queue goes on at once"
        for name, held in groups.items()
    )


def _checks(
    order: ReleaseLocks, locks: Sequence[QueueLock], table: LockTable, *, is_connected: bool
) -> tuple[Check, ...]:
    longest_ms = max(lock.held.expires_in_ms for lock in locks)
    if is_connected:
        why = (
            f"{order.client_id} is connected: its last batch may be consumed twice or out of order"
            " by whoever locks next, and it may lock again first"
        )
        checks = [Check("holder", CheckVerdict.WARN, why)]
    else:
        why = (
            f"{order.client_id} is not connected to the broker any more; without a release the"
            f" locks end by themselves in {max(0, longest_ms) // 1000} s"
        )
        checks = [Check("holder", CheckVerdict.PASS, why)]
    checks += [
        Check(
            "locks of every broker",
            CheckVerdict.WARN,
            f"those of {one.broker.group_name} ({one.broker.address}) are not known: {one.why}",
        )
        for one in table.unknown[:SHOWN_COUNT_MAX]
    ]
    if len(table.locks) > len(locks):
        why = f"it holds {len(table.locks)}; this releases the first {len(locks)}: order again"
        checks.append(Check("all of its locks", CheckVerdict.WARN, why))
    return tuple(checks)


def _count(locks: Sequence[object]) -> str:
    return f"{len(locks)} lock{'s' if len(locks) != 1 else ''}"


def _queues(locks: Sequence[object]) -> str:
    return f"{len(locks)} queue{'s' if len(locks) != 1 else ''}"


def _is(locks: Sequence[object]) -> str:
    return "become" if len(locks) != 1 else "becomes"
