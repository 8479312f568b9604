"""Commit or roll back a pending transaction in the place of its producer."""

from dataclasses import asdict
from typing import Final

from backend.domain.names import check_cluster_name
from backend.domain.operation_errors import InvalidParameters, TransactionNotFound
from backend.domain.orders.transaction import (
    CommitTransaction,
    RollBackTransaction,
    TransactionOrder,
)
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.transaction import PendingTransaction
from backend.operations.actions.transactions import EndTransaction
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.services.message.transactions import collect_transactions


async def read_facts(
    order: TransactionOrder, context: OperationContext
) -> Facts[PendingTransaction]:
    """Read the pending transaction.

    Raises:
        TransactionNotFound: no master that answers has it. InvalidParameters: several have it.
    """
    check_cluster_name(order.cluster_name)
    table = await collect_transactions(
        order.chosen, database=context.database, brokers=context.brokers, clock=context.clock
    )
    if not table.items:
        raise TransactionNotFound(
            order.cluster_name, order.transaction_id, unknown_count=len(table.unknown)
        )
    if len(table.items) > 1:
        names = sorted({one.broker.broker_group_name for one in table.items})
        what = f"{len(table.items)} pending transactions have the id {order.transaction_id}"
        next_step = "name the broker group, or let their producer decide"
        raise InvalidParameters("transaction", f"{what}, on {', '.join(names)}: {next_step}")
    found = table.items[0]
    place = f"{found.broker.broker_group_name}, queue offset {found.held.first_offset}"
    return Facts(found, (Precondition("pending transaction", place),))


async def preview(
    order: TransactionOrder, facts: Facts[PendingTransaction], _context: OperationContext
) -> Plan:
    """Show the message, its producers, and what consumers get."""
    found = facts.seen
    held = found.held
    effect = (
        f"Consumers of topic {held.topic} get the message"
        if order.commits
        else f"No consumer of topic {held.topic} gets the message"
    )
    action = EndTransaction(found.broker, held.first_offset, held.transaction_id, order.commits)
    return Plan(
        summary=f"{effect} of transaction {held.transaction_id}",
        risk=Risk.LOSS,
        steps=planned_steps([action]),
        changes=(
            Difference(
                f"transaction {held.transaction_id}",
                "pending",
                "committed" if order.commits else "rolled back",
            ),
        ),
        impact=(f"{effect}: {held.body_size} bytes of producer group {held.producer_group_name}",),
        checks=(_producers(found),),
        loss=(
            "the producer's decision: consumers get the message even if the producer rolls back"
            if order.commits
            else "the message, even if the producer commits its local transaction"
        ),
        way_back=no_undo("a decided transaction stays decided"),
        facts={"transaction": asdict(held), "broker": asdict(found.broker)},
    )


def _producers(found: PendingTransaction) -> Check:
    held = found.held
    if held.producer_count:
        why = (
            f"{held.producer_count} producers of {held.producer_group_name} are connected: the"
            " broker asks them, and the first decision stays"
        )
        return Check("producers", CheckVerdict.WARN, why)
    why = f"no producer of {held.producer_group_name} is connected to the broker"
    return Check("producers", CheckVerdict.PASS, why)


COMMIT: Final = Kind(
    "commit_transaction", CommitTransaction, read_facts, preview, (EndTransaction,)
)
ROLL_BACK: Final = Kind(
    "roll_back_transaction", RollBackTransaction, read_facts, preview, (EndTransaction,)
)
