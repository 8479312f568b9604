"""Keep one answer to each question for a moment, and put a question once however many ask it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

AnswerT = TypeVar("AnswerT")

KEPT_S: Final = 1.0
PATIENCE_S: Final = 0.05
FORMER_KEPT_S: Final = 10.0
KEPT_BY_COST: Final = 20.0
"""How often an answer is kept for what it took: then asking takes a twentieth of the time."""
KEPT_LONGER_MAX: Final = 5.0
"""How often at most it is kept for as long as others, however much it took."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[AnswerT]):
    began_at: float
    kept_until: float
    answer: AnswerT


class RecentAnswers(Generic[AnswerT]):
    """Answer from what was told a moment ago; belongs to one event loop.

    An answer is kept for `kept_for_s` seconds since it was asked for. One that took long, as of a
    large cluster, is kept for twenty times what it took, up to five times as long as others.
    Who asks while a question is on its way waits for the same answer, and one that gives up ends
    nobody else's wait. When it takes longer than `patience_s`, the answer before it does, as long
    as that was asked for no more than `former_kept_for_s` seconds ago: so pages of a large cluster,
    or of one with a broker that keeps silent, do not wait. A failure is told to all who wait, and
    not kept. There are as many answers as keys that were answered.
    """

    def __init__(
        self,
        ask: Callable[[str], Awaitable[AnswerT]],
        *,
        kept_for_s: float = KEPT_S,
        patience_s: float = PATIENCE_S,
        former_kept_for_s: float = FORMER_KEPT_S,
    ) -> None:
        self._ask, self._kept_for_s = ask, kept_for_s
        self._patience_s, self._former_kept_for_s = patience_s, former_kept_for_s
        self._answers: dict[str, _Answer[AnswerT]] = {}
        self._asked: dict[str, tuple[float, asyncio.Task[AnswerT]]] = {}

    async def get(self, key: str, *, is_fresh: bool = False, is_patient: bool = False) -> AnswerT:
        """Return an answer that is still kept, or the one before it.

        The one before it is for who is not patient. Where it must be `is_fresh` a kept one does
        not do either, but one that is on its way does.
        """
        now = asyncio.get_running_loop().time()
        kept = self._answers.get(key)
        if kept is not None and not is_fresh and now < kept.kept_until:
            return kept.answer
        began_at, task = self._asked.get(key) or self._begin(key, now)
        is_patient |= is_fresh
        if kept is not None and not is_patient and now - kept.began_at < self._former_kept_for_s:
            # For all who come, from when it was asked: not everybody waits that long again.
            done, _ = await asyncio.wait({task}, timeout=began_at + self._patience_s - now)
            if not done:
                return kept.answer
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """End the questions that are on their way."""
        tasks = [task for _, task in self._asked.values()]
        self._answers.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, key: str, now: float) -> tuple[float, asyncio.Task[AnswerT]]:
        task = asyncio.ensure_future(self._ask_for(key, now))
        # All who wait may have gone; then nobody looks at the error.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._asked[key] = now, task
        return now, task

    async def _ask_for(self, key: str, now: float) -> AnswerT:
        try:
            answer = await self._ask(key)
            took = asyncio.get_running_loop().time() - now
            longest_s = KEPT_LONGER_MAX * self._kept_for_s
            kept_for_s = min(max(self._kept_for_s, KEPT_BY_COST * took), longest_s)
            self._answers[key] = _Answer(now, now + kept_for_s, answer)
        except BaseException:
            self._answers.pop(key, None)
            raise
        finally:
            del self._asked[key]
        return answer
