"""A message that is given back for a long time: it moves to the retry topic, or stays."""

from types import SimpleNamespace

import pytest
from regent_engine import Decoder

from backend.remoting.bodies import TopicConfig
from backend.remoting.command import request
from backend.remoting.request_code import RequestCode
from workers.broker.processors.pop import MOVE_DELAY_MS, on_change_invisible_time

POSITION = 4_096


@pytest.fixture
def master():
    """A master of a SHARED topic that can't move the message, since its properties don't fit."""
    master = SimpleNamespace(awaited=[], woken=[])

    async def move(*_name, given_back):
        del given_back

    async def stored(position, reply, _late_reply):
        master.awaited.append(position)
        return reply

    master.broker = SimpleNamespace(
        hot=SimpleNamespace(change_share=lambda *_name, **_change: (1, 2, POSITION)),
        shares=SimpleNamespace(
            is_acting=False,
            move=move,
            wake=lambda topic, queue_id: master.woken.append((topic, queue_id)),
        ),
        membership=SimpleNamespace(appended=lambda: None, stored=stored),
        find_topic=lambda name: TopicConfig(name=name),
        static_topics=SimpleNamespace(find=lambda _name: None),
        elapsed_ms=lambda: 0,
    )
    return master


async def test_q13_without_a_move_the_answer_waits_for_the_record_of_the_release(master):
    fields = {
        "consumerGroup": "billing",
        "topic": "orders",
        "queueId": "0",
        "extraInfo": "7 1 60000 2 0 broker-t 0 7",
        "offset": "7",
        "invisibleTime": str(MOVE_DELAY_MS + 1),
        "release": "true",
    }
    frame = request(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, opaque=7, ext=fields)
    (command,) = Decoder().receive(frame)

    reply = await on_change_invisible_time(master.broker, SimpleNamespace(address=""), command)

    assert Decoder().receive(reply)[0].code == 0
    assert master.awaited == [POSITION]
    assert master.woken == [("orders", 0)]
