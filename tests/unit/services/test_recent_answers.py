"""Answers that many pages share for a moment."""

import asyncio

import pytest

from backend.services.recent_answers import RecentAnswers


class Source:
    """Answers with how often it was asked, once it is let."""

    def __init__(self):
        self.asked, self.may_answer, self.error = [], asyncio.Event(), None
        self.may_answer.set()

    async def ask(self, key):
        self.asked.append(key)
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        return len(self.asked)


async def test_an_answer_is_shared_until_it_is_too_old():
    source = Source()
    kept, not_kept = (RecentAnswers(source.ask, kept_for_s=one) for one in (3_600, 0))

    assert [await kept.get("a"), await kept.get("a"), await kept.get("b")] == [1, 1, 2]
    assert await kept.get("a", is_fresh=True) == 3
    assert await kept.get("a") == 3
    assert [await not_kept.get("a"), await not_kept.get("a")] == [4, 5]


async def test_an_answer_that_took_long_is_kept_longer(monkeypatch):
    loop, ahead_s = asyncio.get_running_loop(), 0.0
    own_time = loop.time
    # So far ahead that it is nothing how long a busy machine takes.
    monkeypatch.setattr(loop, "time", lambda: own_time() + ahead_s)

    async def ask(_key):
        nonlocal ahead_s
        ahead_s += 2_000
        return loop.time()

    briefly, longer = (RecentAnswers(ask, kept_for_s=one) for one in (1_000, 10_000))
    first = [await briefly.get("a"), await longer.get("a")]
    ahead_s += 20_000
    second = [await briefly.get("a"), await longer.get("a")]

    # For 20 times 2 000 s, but no longer than five times 1 000 s and 10 000 s.
    assert second[0] > first[0]
    assert second[1] == first[1]


async def test_who_asks_meanwhile_waits_for_the_same_answer_even_if_the_first_gives_up():
    source = Source()
    source.may_answer.clear()
    recent = RecentAnswers(source.ask, kept_for_s=0)

    first, second = (asyncio.create_task(recent.get("a")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    source.may_answer.set()

    assert first.cancelled()
    assert await second == 1
    assert source.asked == ["a"]


async def test_the_answer_before_does_for_who_is_not_patient():
    source = Source()
    recent = RecentAnswers(source.ask, kept_for_s=0, patience_s=0.01, former_kept_for_s=3_600)
    await recent.get("a")
    source.may_answer.clear()

    former = [await recent.get("a"), await recent.get("a")]
    waiting = [
        asyncio.create_task(recent.get("a", **how))
        for how in ({"is_fresh": True}, {"is_patient": True})
    ]
    done, _ = await asyncio.wait(waiting, timeout=0.05)
    source.may_answer.set()

    assert former == [1, 1]
    assert not done
    assert await asyncio.gather(*waiting) == [2, 2]
    assert source.asked == ["a", "a"]


async def test_an_answer_that_is_long_past_is_not_used():
    source = Source()
    recent = RecentAnswers(source.ask, kept_for_s=0, patience_s=0, former_kept_for_s=0)

    assert [await recent.get("a"), await recent.get("a")] == [1, 2]


async def test_a_failure_is_answered_to_all_and_not_kept():
    source = Source()
    source.error = LookupError("no cluster")
    recent = RecentAnswers(source.ask, kept_for_s=3_600)

    failed = await asyncio.gather(recent.get("a"), recent.get("a"), return_exceptions=True)
    source.error = None

    assert [str(one) for one in failed] == ["no cluster", "no cluster"]
    assert await recent.get("a") == 2


async def test_closing_ends_what_is_asked():
    source = Source()
    source.may_answer.clear()
    recent = RecentAnswers(source.ask)
    waiting = asyncio.create_task(recent.get("a"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    await recent.aclose()

    with pytest.raises(asyncio.CancelledError):
        await waiting
