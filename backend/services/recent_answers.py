"""Keep the answer to a question for a moment, and ask a question once for many callers."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

AnswerT = TypeVar("AnswerT")

KEPT_S: Final = 1.0
PATIENCE_S: Final = 0.05
FORMER_KEPT_S: Final = 10.0
KEPT_BY_COST: Final = 20.0
"""An answer is kept this many times its duration, so asking takes a twentieth of the time."""
KEPT_LONGER_MAX: Final = 5.0
"""The limit of this time, as a multiple of the normal time."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[AnswerT]):
    began_at: float
    kept_until: float
    answer: AnswerT


class RecentAnswers(Generic[AnswerT]):
    """Answer from recent answers; belongs to one event loop.

    An answer is kept for `kept_for_s` seconds since its question. A slow answer, as of a large
    cluster, is kept for twenty times its duration, up to five times as long as others. A caller
    during an open question waits for the same answer; a caller that gives up does not end the wait
    of others. If the answer takes longer than `patience_s`, the previous answer is returned, unless
    its question is more than `former_kept_for_s` seconds old. So pages of a large cluster, or of a
    cluster with a silent broker, do not wait. An error is raised to all waiting callers, and not
    kept. There is one answer for each key.
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
        """Return an answer that is still kept, or the previous answer.

        The previous answer is for callers that do not wait. With `is_fresh` a kept answer is not
        returned either, but the answer to an open question is.
        """
        now = asyncio.get_running_loop().time()
        kept = self._answers.get(key)
        if kept is not None and not is_fresh and now < kept.kept_until:
            return kept.answer
        began_at, task = self._asked.get(key) or self._begin(key, now)
        is_patient |= is_fresh
        if kept is not None and not is_patient and now - kept.began_at < self._former_kept_for_s:
            # The time counts from the question, for all callers: later callers wait less.
            done, _ = await asyncio.wait({task}, timeout=began_at + self._patience_s - now)
            if not done:
                return kept.answer
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Cancel the open questions."""
        tasks = [task for _, task in self._asked.values()]
        self._answers.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, key: str, now: float) -> tuple[float, asyncio.Task[AnswerT]]:
        task = asyncio.ensure_future(self._ask_for(key, now))
        # All callers may have left; then no code reads the error.
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
