"""Decide a pending transaction in the place of its producer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from backend.brokers.requests.transactions import DecideTransaction, GetPendingTransactions
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.domain.queue_lock import BrokerKey
from backend.domain.transaction import HeldTransaction
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun
from backend.operations.planning.broker_steps import fence_of


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """Commit or roll back a pending transaction on the master that has it."""

    tag: ClassVar[str] = "end_transaction"

    broker: BrokerKey
    first_offset: int
    transaction_id: str
    commits: bool

    @property
    def step(self) -> PlannedStep:
        """Say what is decided, and where."""
        what = "Commit" if self.commits else "Roll back"
        where = f"on {self.broker.broker_group_name} ({self.broker.address})"
        return PlannedStep("end-transaction", f"{what} the transaction {where}")

    async def read(self, context: OperationContext) -> Value:
        """Read whether the transaction is pending."""
        listed = await context.brokers.ask(self.broker.address, self._question)
        return {"is_pending": any(self._is(one) for one in listed.transactions)}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Decide it; the attempt of a former worker is not repeated."""
        change = DecideTransaction(
            first_offset=self.first_offset,
            transaction_id=self.transaction_id,
            commits=self.commits,
            fence=fence_of(run),
        )
        await context.brokers.ask(self.broker.address, change)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the transaction is not pending any more."""
        what, intended = f"transaction {self.transaction_id}", "decided"
        answer = await context.brokers.find(self.broker.address, self._question)
        if answer is None:
            return [ReadBack(what, intended, None, Agreement.UNKNOWN)]
        is_pending = any(self._is(one) for one in answer.transactions)
        observed = "pending" if is_pending else intended
        agreement = Agreement.DIFFERS if is_pending else Agreement.AGREES
        return [ReadBack(what, intended, observed, agreement)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: consumers may have the message, or it is gone.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("a decided transaction stays decided")

    @property
    def _question(self) -> GetPendingTransactions:
        return GetPendingTransactions(self.transaction_id)

    def _is(self, one: HeldTransaction) -> bool:
        return (one.first_offset, one.transaction_id) == (self.first_offset, self.transaction_id)
