"""Release locks of ordered queues: one, or all of a client (console-and-cli.md 1.4.4)."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Final

from backend.domain.names import check_cluster_name
from backend.domain.operation_errors import LockNotFound
from backend.domain.orders.lock import ReleaseLocks
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.queue_lock import BrokerKey, Holder, QueueLock
from backend.operations.actions import brokers as actions
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.services.consumer_group.queue_locks import Locks, collect_locks

LOCK_COUNT_MAX: Final = 1_000
"""More locks are released in several operations, so that each plan stays readable."""
SHOWN_COUNT_MAX: Final = 20


async def read_facts(order: ReleaseLocks, context: OperationContext) -> Facts[Locks]:
    """Read the current locks, and whether their client is connected.

    Raises:
        LockNotFound: no broker that answers has such a lock.
    """
    check_cluster_name(order.cluster_name)
    table = await _collect(order, context)
    locks = table.items[:LOCK_COUNT_MAX]
    if not locks:
        where = "" if order.target == order.client_id else f" for {order.target!r}"
        what = f"a lock of client {order.client_id!r}{where}"
        raise LockNotFound(order.cluster_name, what, unknown_count=len(table.unknown))
    return Facts(
        table,
        (
            Precondition("locks that are held", _digest(locks)),
            Precondition("holder", Holder.CONNECTED if _is_connected(locks) else Holder.GONE),
        ),
    )


async def preview(order: ReleaseLocks, facts: Facts[Locks], _context: OperationContext) -> Plan:
    """Name the locks to release, and the risk."""
    table = facts.seen
    locks = table.items[:LOCK_COUNT_MAX]
    is_connected, by_broker = _is_connected(locks), _by_broker(locks)
    return Plan(
        summary=f"{_count(locks)} of {order.client_id} {_is(locks)} free for others",
        risk=Risk.SERVICE if is_connected else Risk.SMALL,
        steps=planned_steps(
            [
                actions.ReleaseLocks(broker, tuple(lock.held for lock in held), number)
                for number, (broker, held) in enumerate(by_broker)
            ]
        ),
        changes=tuple(
            Difference(
                f"{lock.queue} for {lock.held.consumer_group_name}", lock.held.client_id, "none"
            )
            for lock in locks[:SHOWN_COUNT_MAX]
        ),
        impact=_impact(locks),
        checks=_checks(order, locks, table, is_connected=is_connected),
        way_back=no_undo(
            "clients decide who holds a lock; a connected client locks again at its next"
            " rebalance, within 20 s"
        ),
        facts={
            "lock_count": len(locks),
            "is_holder_connected": is_connected,
            "brokers": [
                {"broker": asdict(broker), "locks": [asdict(lock.held) for lock in held]}
                for broker, held in by_broker
            ],
        },
    )


KIND: Final = Kind("release_locks", ReleaseLocks, read_facts, preview, (actions.ReleaseLocks,))


def _is_connected(locks: Sequence[QueueLock]) -> bool:
    return any(lock.holder is Holder.CONNECTED for lock in locks)


async def _collect(order: ReleaseLocks, context: OperationContext) -> Locks:
    return await collect_locks(
        order.chosen,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )


def _by_broker(locks: Sequence[QueueLock]) -> list[tuple[BrokerKey, list[QueueLock]]]:
    ordered = sorted(locks, key=lambda lock: (lock.broker.broker_group_name, lock.broker.address))
    return [(key, list(held)) for key, held in groupby(ordered, key=lambda lock: lock.broker)]


def _digest(locks: Sequence[QueueLock]) -> str:
    """Name each hold exactly: a lock that is taken again after a release is another hold."""
    holds = "\n".join(f"{lock.key} {lock.held.locked_at_ms}" for lock in locks)
    return f"{len(locks)} ({hashlib.sha256(holds.encode()).hexdigest()[:12]})"


def _impact(locks: Sequence[QueueLock]) -> tuple[str, ...]:
    groups: dict[str, list[QueueLock]] = {}
    for lock in locks:
        groups.setdefault(lock.held.consumer_group_name, []).append(lock)
    return tuple(
        f"Consumer group {name}: {_queues(held)} of {len({one.held.topic for one in held})} topics;"
        " its members are asked to rebalance, and the new owner of a queue reads on"
        for name, held in groups.items()
    )


def _checks(
    order: ReleaseLocks,
    locks: Sequence[QueueLock],
    table: Locks,
    *,
    is_connected: bool,
) -> tuple[Check, ...]:
    longest_ms = max(lock.held.expires_in_ms for lock in locks)
    if is_connected:
        why = (
            f"{order.client_id} is connected: its last batch may be consumed twice or out of order"
            " by the next owner, and this client may lock again first"
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
            f"those of {one.broker.broker_group_name} ({one.broker.address}) are not known:"
            f" {one.why}",
        )
        for one in table.unknown[:SHOWN_COUNT_MAX]
    ]
    if len(table.items) > len(locks):
        why = f"it holds {len(table.items)}; this releases the first {len(locks)}: order again"
        checks.append(Check("all of its locks", CheckVerdict.WARN, why))
    return tuple(checks)


def _count(locks: Sequence[object]) -> str:
    return f"{len(locks)} lock{'s' if len(locks) != 1 else ''}"


def _queues(locks: Sequence[object]) -> str:
    return f"{len(locks)} queue{'s' if len(locks) != 1 else ''}"


def _is(locks: Sequence[object]) -> str:
    return "become" if len(locks) != 1 else "becomes"
