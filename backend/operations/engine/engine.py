"""Carry out an operation step by step; a crash loses no step and doubles no effect (D20).

A worker claims the operation with a fencing number and holds it with a short lease. Before a step
the journal records its beginning and the value before it. After the step the journal records its
end and the value after it. The next worker begins where the journal ends. A step that had begun is
repeated, and checks itself whether it had its effect.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from backend.brokers.errors import NoAnswer
from backend.db import operations
from backend.domain import operation_run as domain
from backend.domain.errors import BrokerGroupBusy, DomainError, MasterLeaseLive
from backend.domain.logical_queue.errors import LeaderLeaseLive
from backend.domain.operation import (
    ATTEMPTS_MAX,
    Author,
    Operation,
    OperationState,
    Step,
    StepState,
)
from backend.domain.operation_errors import BrokerSilent, InvalidParameters, OperationFenced
from backend.domain.plan import Agreement, ReadBack
from backend.operations.engine import journal, steps
from backend.operations.engine.kind import (
    Action,
    Effect,
    Kinds,
    OperationContext,
    StepRun,
    Unfinished,
    Waiting,
)
from backend.operations.engine.known_kinds import KINDS
from backend.operations.engine.orders import deliver_now, find_void

LEASE: Final = timedelta(seconds=5)
RENEWAL_INTERVAL: Final = timedelta(seconds=1.5)
LEASE_WATCH_S: Final = 1.4 * RENEWAL_INTERVAL.total_seconds()
"""How long a worker watches a lease that seems to have ended.

A wall clock may have been set. If the worker that holds the operation is alive, it renews the lease
meanwhile.
"""

SLICE: Final = timedelta(seconds=25)
"""After this time with one operation, a worker gives others a turn between two steps."""

# The outcome of the attempt is unknown, or a later attempt may succeed.
_OPEN: Final = (
    Unfinished,
    NoAnswer,
    BrokerSilent,
    BrokerGroupBusy,
    MasterLeaseLive,
    LeaderLeaseLive,
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    TimeoutError,
    ConnectionError,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Hold the state of an operation after a run."""

    state: str
    step_count: int


async def run_operation(
    operation_id: UUID, context: OperationContext, *, kinds: Kinds = KINDS
) -> RunOutcome | None:
    """Carry out an operation as far as possible now; None if this worker can't claim it.

    Raises:
        OperationNotFound: no operation has the id.
    """
    run = _Run(operation_id, context, kinds)
    try:
        if not await run.claim():
            return None
        async with run.held():
            try:
                await run.carry_on()
            except (*_OPEN, OperationFenced):
                raise
            except Exception as error:
                log.exception("operation_fault", operation_id=str(operation_id))
                await run.put_off(error)
    except OperationFenced as error:
        log.info("operation_taken_over", operation_id=str(operation_id), reason=str(error))
        return None
    if run.operation.state is OperationState.QUEUED:
        await deliver_now(context)
    return RunOutcome(run.operation.state, run.step_count)


class _Run:
    """Hold the claim of one worker on one operation."""

    operation: Operation

    def __init__(self, operation_id: UUID, context: OperationContext, kinds: Kinds) -> None:
        self._id, self._context, self._kinds = operation_id, context, kinds
        self._author = Author(context.process_name, "worker")
        self._fence = 0
        self.step_count = 0

    async def claim(self) -> bool:
        """Claim the operation, if no worker holds it and it is to be carried out."""
        if self._context.lease_watch_s and await self._is_renewed():
            return False
        is_claimed = False
        async with self._context.database.connect() as connection:
            floor = await operations.draw_fence(connection)

        def become(held: Operation) -> Operation:
            nonlocal is_claimed
            claimed = domain.claim(held, at=self._now(), lease=LEASE, fence_floor=floor)
            is_claimed = claimed is not None
            return held if claimed is None else claimed

        await self._change(become)
        self._fence = self.operation.fence
        return is_claimed

    async def _is_renewed(self) -> bool:
        """Watch the lease of a running operation; return whether its worker renews it."""
        before = await self._look()
        if before.state is not OperationState.RUNNING:
            return False
        if domain.is_held(before, at=self._now()):
            return True
        await asyncio.sleep(self._context.lease_watch_s)
        after = await self._look()
        return (after.fence, after.lease_until) != (before.fence, before.lease_until)

    async def _look(self) -> Operation:
        async with self._context.database.connect() as connection:
            return await operations.get(connection, self._id)

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Keep the lease alive."""
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping

    async def carry_on(self) -> None:
        """Carry out steps until the operation ends, waits, or its turn is over."""
        until = self._now() + SLICE
        while self.operation.state is OperationState.RUNNING:
            await self._change(lambda held: domain.heed(held, fence=self._fence, at=self._now()))
            if self.operation.state is not OperationState.RUNNING:
                return
            step = self.operation.next_step
            if step is None:
                await self._finish()
            elif self._now() >= until:
                await self._change(
                    lambda held: domain.release(held, fence=self._fence, not_before=self._now())
                )
            elif await self._is_void():
                return
            else:
                await self._do(step)

    async def put_off(self, fault: Exception) -> None:
        """Count an unexpected error as a failed attempt."""
        reason = f"an internal error, see the log of the worker: {type(fault).__name__}: {fault}"
        step = self.operation.next_step
        if step is None:
            await self._end([_not_read_back(reason)])
        else:
            await self._postpone(step.position, reason)

    async def _is_void(self) -> bool:
        """End a confirmed operation whose facts have changed before its first step."""
        if self.operation.has_effect:
            return False
        void: DomainError | None
        try:
            self._actions()
            void = await find_void(self.operation, self._context, self._kinds)
        except InvalidParameters as unreadable:
            void = unreadable
        if void is None:
            return False
        why = str(void)
        await self._change(
            lambda held: domain.fail(held, fence=self._fence, why=why, at=self._now())
        )
        return True

    async def _do(self, step: Step) -> None:
        position = step.position
        # A refusal now is no evidence about the effect of an earlier attempt (D21).
        refuse = domain.leave_open if step.state is StepState.RUNNING else domain.refuse_step
        if step.state is StepState.RUNNING and step.attempt_count >= ATTEMPTS_MAX:
            # The cause that ends its workers would end the next worker too.
            reason = f"it was started {step.attempt_count} times and never ended"
            await self._postpone(position, step.error or reason)
            return
        try:
            action = self._actions()[position]
            before = step.before if step.began_at is not None else await action.read(self._context)
            await self._change(
                lambda held: domain.begin_step(
                    held, position, fence=self._fence, before=before, at=self._now()
                )
            )
            is_repeated = step.began_at is not None
            run = StepRun(self.operation, position, self._fence, before, is_repeated)
            made = await action.do(run, self._context)
        except OperationFenced:
            raise
        except Waiting as waiting:
            reason, progress = str(waiting), waiting.progress
            await self._change(
                lambda held: domain.await_step(
                    held,
                    position,
                    fence=self._fence,
                    reason=reason,
                    progress=progress,
                    at=self._now(),
                )
            )
        except _OPEN as error:
            await self._postpone(position, str(error) or type(error).__name__)
        except DomainError as error:
            reason = str(error)
            await self._change(
                lambda held: refuse(held, position, fence=self._fence, error=reason, at=self._now())
            )
        else:
            effect = made if isinstance(made, Effect) else Effect(before, made)
            await self._change(
                lambda held: domain.end_step(
                    held,
                    position,
                    fence=self._fence,
                    before=effect.before,
                    after=effect.after,
                    at=self._now(),
                )
            )
            self.step_count += 1

    async def _postpone(self, position: int, reason: str) -> None:
        await self._change(
            lambda held: domain.postpone_step(
                held, position, fence=self._fence, error=reason, at=self._now()
            )
        )

    async def _finish(self) -> None:
        try:
            found = await steps.read_back(self.operation, self._actions(), self._context)
        except (*_OPEN, DomainError) as error:
            found = [_not_read_back(str(error) or type(error).__name__)]
        await self._end(found)

    async def _end(self, found: Sequence[ReadBack]) -> None:
        await self._change(
            lambda held: domain.finish(held, found, fence=self._fence, at=self._now())
        )

    def _actions(self) -> list[Action]:
        """Return the actions of the operation, which a later version may have planned.

        Raises:
            InvalidParameters: this version does not know the kind or an action.
        """
        kind = self._kinds.get(self.operation.kind)
        if kind is None:
            raise InvalidParameters(
                self.operation.kind,
                "workers of this version do not know it: upgrade them, then try again",
            )
        return steps.read_actions(self.operation, kind)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_INTERVAL.total_seconds())
            try:
                await journal.change(
                    self._id,
                    lambda held: domain.renew(held, fence=self._fence, at=self._now(), lease=LEASE),
                    self._author,
                    database=self._context.database,
                    clock=self._context.clock,
                )
            except (*_OPEN, OperationFenced) as error:
                log.warning("lease_not_renewed", operation_id=str(self._id), reason=str(error))

    async def _change(self, become: Callable[[Operation], Operation]) -> None:
        self.operation = await journal.change(
            self._id,
            become,
            self._author,
            database=self._context.database,
            clock=self._context.clock,
        )

    def _now(self) -> datetime:
        return self._context.clock.now()


def _not_read_back(reason: str) -> ReadBack:
    return ReadBack("all of it", "to be read back", reason, Agreement.UNKNOWN)
