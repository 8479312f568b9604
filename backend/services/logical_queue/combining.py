"""Carry out requests of concurrent tasks together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from backend.brokers.errors import NoAnswer
from backend.domain.errors import DomainError

RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")

CarryOut = Callable[[Sequence[RequestT]], Awaitable[Sequence[AnswerT | Exception]]]
"""Returns for each request its answer, or the error that it alone has."""


@dataclass(slots=True, eq=False)
class _Waiting(Generic[RequestT, AnswerT]):
    """A request, and what it came to; None before that."""

    request: RequestT
    outcome: tuple[AnswerT | Exception] | None = None


class Combined(Generic[RequestT, AnswerT]):
    """Carry out requests one call after another: those that come during a call share the next one.

    A call carries requests out in the order in which they came.
    """

    def __init__(self, carry_out: CarryOut[RequestT, AnswerT]) -> None:
        """Carry out requests by a function."""
        self._carry_out = carry_out
        self._waiting: list[_Waiting[RequestT, AnswerT]] = []
        self._turn = asyncio.Lock()

    async def ask(self, request: RequestT) -> AnswerT:
        """Return the answer to a request.

        Raises:
            Exception: the error of the request, or of the call that carried it out.
        """
        own = _Waiting[RequestT, AnswerT](request)
        self._waiting.append(own)
        try:
            async with self._turn:
                if own.outcome is None:
                    await self._carry_out_waiting()
        finally:
            if own in self._waiting:
                self._waiting.remove(own)
        assert own.outcome is not None
        (outcome,) = own.outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _carry_out_waiting(self) -> None:
        # A call that is cancelled leaves the requests of other tasks to their own calls.
        shared = list(self._waiting)
        outcomes: Sequence[AnswerT | Exception]
        try:
            outcomes = await self._carry_out([one.request for one in shared])
        except (DomainError, NoAnswer) as error:
            outcomes = [error] * len(shared)
        for one, outcome in zip(shared, outcomes, strict=True):
            one.outcome = (outcome,)
        self._waiting = [one for one in self._waiting if one.outcome is None]
