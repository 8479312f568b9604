"""Keep one answer to each question for a moment, and put a question once however many ask it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

AnswerT = TypeVar("AnswerT")

KEPT_S: Final = 1.0


class RecentAnswers(Generic[AnswerT]):
    """Answer from what was told a moment ago; belongs to one event loop.

    Who asks while a question is on its way waits for the same answer, and one that gives up ends
    nobody else's wait. A failure is told to all who wait, and not kept. There are as many answers
    as keys that were answered.
    """

    def __init__(
        self, ask: Callable[[str], Awaitable[AnswerT]], *, kept_for_s: float = KEPT_S
    ) -> None:
        self._ask, self._kept_for_s = ask, kept_for_s
        self._asked: dict[str, tuple[float, asyncio.Task[AnswerT]]] = {}

    async def get(self, key: str, *, is_fresh: bool = False) -> AnswerT:
        """Return an answer that is no older than `kept_for_s` seconds.

        Where it must be `is_fresh` a kept one does not do, but one that is on its way does.
        """
        now = asyncio.get_running_loop().time()
        began_at, task = self._asked.get(key, (0.0, None))
        if task is None or (task.done() and (is_fresh or now - began_at >= self._kept_for_s)):
            task = asyncio.ensure_future(self._ask_for(key))
            # All who wait may have gone; then nobody looks at the error.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._asked[key] = now, task
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """End the questions that are on their way."""
        tasks = [task for _, task in self._asked.values()]
        self._asked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_for(self, key: str) -> AnswerT:
        try:
            return await self._ask(key)
        except BaseException:
            self._asked.pop(key, None)
            raise
