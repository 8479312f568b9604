"""Find the processor of a request, and turn its errors into answers.

A broad `except` is here and where POPs wait for other members, which no dispatcher waits for: an
error of one processor must not end a connection.
"""

from collections.abc import Awaitable
from inspect import isawaitable

from regent_engine import Command, PullGrant

from backend.remoting.headers.fencing import FENCE_FIELD
from workers.broker.broker import Broker
from workers.broker.errors import NotLeading
from workers.broker.logical.forwarding import POP_CODES, forward, may_forward
from workers.broker.processors import load
from workers.broker.processors.pop import check_again as check_pop_again
from workers.broker.processors.pulling import check_pull, retry_answer
from workers.broker.requests.caller import Caller
from workers.broker.requests.explaining import explain
from workers.broker.requests.fenced_changes import carry_out
from workers.broker.requests.serving import Outcome, Served, find_served, refuse_unknown
from workers.broker.shares.shared_pops import nothing_answer

load()


class Dispatcher:
    """Serves the requests of every connection of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def dispatch(self, caller: Caller, command: Command) -> Outcome:
        """Serve a request as far as possible immediately; the awaitable, if any, never raises."""
        served = find_served(command.code, self._broker.settings.protocol_version_max)
        try:
            passage = None
            if served.is_passed_on and not served.is_for_this_broker(command):
                passage = self._broker.membership.pass_on(command)
            outcome: Outcome
            if passage is None:
                outcome = self._serve(caller, command, served)
            else:
                outcome = self._pass_on(caller, command, served, passage)
        except NotLeading as refusal:
            return _finish(command, self._forward(caller, command, served, refusal))
        except Exception as error:  # noqa: BLE001 - see above
            return explain(command, error)
        if outcome is None or isinstance(outcome, bytes):
            return outcome
        return _finish(command, self._or_forward(caller, command, served, outcome))

    def check_again(self, caller: Caller, command: Command) -> PullGrant | bytes:
        """Check a pull that has waited; return its new grant, or the answer that refuses it."""
        try:
            if command.code in POP_CODES:
                grant = check_pop_again(self._broker, command)
                return nothing_answer(command) if grant is None else grant
            return check_pull(self._broker, caller, command)
        except NotLeading:
            # The next request is forwarded to the leader.
            is_pop = command.code in POP_CODES
            return nothing_answer(command) if is_pop else retry_answer(command)
        except Exception as error:  # noqa: BLE001 - see above
            return explain(command, error)

    def _serve(self, caller: Caller, command: Command, served: Served) -> Outcome:
        if not served.is_for_this_broker(command):
            self._broker.membership.check(served.role)
        if caller.is_fast and not served.on_fast_port:
            return refuse_unknown(self._broker, caller, command)
        if FENCE_FIELD in command.ext:
            return carry_out(self._broker, caller, command, served)
        return served.processor(self._broker, caller, command)

    async def _or_forward(
        self, caller: Caller, command: Command, served: Served, outcome: Awaitable[bytes]
    ) -> bytes:
        """Return the answer of this broker, or of the leader of its logical queue."""
        try:
            return await outcome
        except NotLeading as refusal:
            return await self._forward(caller, command, served, refusal)

    async def _forward(
        self, caller: Caller, command: Command, served: Served, refusal: NotLeading
    ) -> bytes:
        """Return the answer of the broker group that leads a logical queue."""
        if not may_forward(command):
            raise refusal
        reply = await forward(self._broker, caller, command, refusal)
        return await self._serve_late(caller, command, served) if reply is None else reply

    async def _serve_late(self, caller: Caller, command: Command, served: Served) -> bytes:
        outcome = self._serve(caller, command, served)
        if isawaitable(outcome):
            outcome = await outcome
        return outcome or b""

    async def _pass_on(
        self, caller: Caller, command: Command, served: Served, passage: Awaitable[bytes | None]
    ) -> bytes:
        """Return the answer of the master of the group, which may be this broker now."""
        reply = await passage
        return await self._serve_late(caller, command, served) if reply is None else reply


async def _finish(command: Command, outcome: Awaitable[bytes]) -> bytes:
    try:
        return await outcome
    except Exception as error:  # noqa: BLE001 - see above
        return explain(command, error)
