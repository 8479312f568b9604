from types import SimpleNamespace

import pytest
from regent_engine import StoreError

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.shares import exhausted_messages
from workers.broker.shares.exhausted_messages import PASSED_TICKS, ExhaustedMessages

ABSENT = Refusal(ResponseCode.SYSTEM_BUSY, "the broker group of the segment does not answer")


class Broker:
    """A broker with dead messages of group `g`, of which some can't be given up."""

    def __init__(self, dead, errors):
        self.dead, self.errors, self.tried = dead, errors, []
        self.hot = self.shares = self

    def elapsed_ms(self):
        return 0

    def dead_shares(self, _elapsed_ms, count_max):
        return [(*place, 1) for place in self.dead][:count_max]

    async def give_up(self, topic, queue_id, group, offset, *, count, is_free):
        assert is_free
        place = topic, queue_id, group, offset
        self.tried.append((queue_id, offset))
        if place in self.errors:
            raise self.errors[place]
        self.dead.remove(place)
        return SimpleNamespace(successes=[count == 1])


def place(queue_id, offset):
    return "T", queue_id, "g", offset


def store_error(code):
    error = StoreError("the store refused")
    error.code = code
    return error


async def test_messages_of_an_absent_broker_group_hold_up_no_other_share_queue(monkeypatch):
    monkeypatch.setattr(exhausted_messages, "DEAD_A_TICK", 2)
    dead = [place(0, 0), place(0, 1), place(0, 2), place(1, 0), place(1, 1)]
    broker = Broker(dead, {place(0, offset): ABSENT for offset in range(3)})
    exhausted = ExhaustedMessages(broker)

    for _ in range(4):
        await exhausted.give_up_some()

    assert broker.dead == [place(0, 0), place(0, 1), place(0, 2)]
    assert broker.tried == [(0, 0), (0, 2), (1, 0), (1, 1)]


async def test_a_message_that_was_passed_over_is_tried_again_later():
    broker = Broker([place(0, 0), place(0, 1)], {place(0, 0): store_error("corrupt")})
    exhausted = ExhaustedMessages(broker)
    await exhausted.give_up_some()
    broker.errors.clear()

    for _ in range(PASSED_TICKS - 1):
        await exhausted.give_up_some()
    assert broker.tried == [(0, 0), (0, 1)]
    await exhausted.give_up_some()

    assert broker.tried == [(0, 0), (0, 1), (0, 0)]
    assert broker.dead == []


async def test_a_store_that_refuses_all_messages_is_asked_once_a_tick():
    dead = [place(0, 0), place(0, 1)]
    broker = Broker(dead, {one: store_error("disk_full") for one in dead})

    with pytest.raises(StoreError):
        await ExhaustedMessages(broker).give_up_some()

    assert broker.tried == [(0, 0)]
