"""Requests about logical queues carry their epoch, and read what agents and tools answer."""

from types import SimpleNamespace

import msgspec
import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerRefused
from backend.brokers.requests.logical_queues import (
    DiscardLogicalQueue,
    GetLogicalQueues,
    GetStaticTopic,
    PrepareLogicalQueue,
    RetirePhysicalQueue,
    SealLogicalQueue,
    StaticTopic,
    StoreMapping,
    UnsealLogicalQueue,
)
from backend.brokers.requests.offsets import UpdateConsumerOffset
from backend.brokers.requests.physical_positions import GetPhysicalPositions
from backend.domain.logical_queue.broker_copy import BrokerTopic, PreparedQueue, SealRecord
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import QueueEpochFenced
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    MappingInfo,
    QueueCounts,
    RetiredQueue,
)
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.operation_errors import ChangeRefused
from backend.domain.topic_layout import TopicLayout
from backend.remoting import java_json
from backend.remoting.bodies import StaticTopicConfig
from backend.remoting.request_code import RequestCode

MAPPING = BrokerMapping(
    MappingInfo("T", "b1", 5_000, 2, led={1: 0}),
    {1: (QueueSegment(0, "b1", 0, 0, 0, 7), QueueSegment(1, "b1", 3, 7))},
)
LAYOUT = TopicLayout(read_queue_count=4, write_queue_count=4, attributes={"a": "b"})
MOVE = {"topic": "T", "global_id": 1, "epoch": 9_000}


class Wire:
    """Gives one answer to every request, and keeps the last request."""

    def __init__(self, code=0, *, ext=None, body=b"", remark="why"):
        self.response = SimpleNamespace(code=code, ext=ext or {}, body=body, remark=remark)
        self.sent = None

    async def request(self, _address, code, *, ext, body, **_more):
        self.sent = int(code), ext, body
        return self.response


async def ask(wire, request):
    return await Brokers(wire).ask("10.0.0.1:10911", request)


async def test_each_request_of_a_move_names_its_queue_and_its_epoch():
    wire = Wire(ext={"queueId": "4", "startOffset": "101", "finalOffset": "201"})
    ext = {"topic": "T", "globalId": "1", "epoch": "9000"}

    prepared = await ask(wire, PrepareLogicalQueue(**MOVE))

    assert prepared == Prepared(4, 101)
    assert wire.sent == (7011, ext | {"reuseAcrossQueues": "false"}, b"")
    assert await ask(wire, SealLogicalQueue(**MOVE)) == Seal(201)
    assert wire.sent == (7012, ext, b"")
    for code, kind in ((7013, UnsealLogicalQueue), (7014, DiscardLogicalQueue)):
        assert await ask(wire, kind(**MOVE)) is None
        assert wire.sent == (code, ext, b"")


async def test_a_queue_without_data_is_named_with_its_last_segment():
    wire = Wire()

    await ask(wire, RetirePhysicalQueue(**MOVE, queue_id=4, generation=2, final_offset=101))

    ext = {"topic": "T", "globalId": "1", "epoch": "9000"}
    assert wire.sent == (7016, ext | {"queueId": "4", "generation": "2", "finalOffset": "101"}, b"")


async def test_a_seal_returns_the_times_of_the_first_and_the_last_message():
    wire = Wire(
        ext={"finalOffset": "9", "startOffset": "2", "timeOfStart": "70", "timeOfEnd": "80"}
    )

    assert await ask(wire, SealLogicalQueue(**MOVE)) == Seal(9, 70, 80)


async def test_a_newer_change_a_refusal_and_a_busy_broker_are_three_errors():
    fenced = Wire(7_001, ext={"regentHeldFence": "12000"})
    request = PrepareLogicalQueue(**MOVE)

    with pytest.raises(QueueEpochFenced) as raised:
        await ask(fenced, request)
    with pytest.raises(ChangeRefused):
        await ask(Wire(29), request)
    with pytest.raises(BrokerRefused):
        await ask(Wire(2), request)

    assert (raised.value.epoch, raised.value.held) == (9_000, 12_000)


async def test_a_mapping_is_stored_with_its_layout_as_tools_of_stock_do_it():
    """L64: the keys of maps are quoted."""
    wire = Wire()

    await ask(wire, StoreMapping(layout=LAYOUT, mapping=MAPPING, is_final=True))

    code, ext, body = wire.sent
    assert (code, ext["topic"], ext["readQueueNums"], ext["force"]) == (513, "T", "4", "false")
    assert (ext["attributes"], ext["lqv"], ext["lqFinal"]) == ("+a=b", "1", "true")
    assert msgspec.json.decode(body)["hostedQueues"]["1"][0]["endOffset"] == 7


async def test_a_topic_is_read_with_its_mapping_whether_or_not_keys_are_quoted():
    """L64."""
    quoted = java_json.encode(
        StaticTopicConfig(
            name="T", read_queue_count=4, write_queue_count=4, attributes={"a": "b"}, mapping=None
        )
    )
    detail = (
        b'{"topic":"T","scope":"__global__","totalQueues":2,"bname":"b1","epoch":5000,'
        b'"dirty":false,"currIdMap":{1:3},"hostedQueues":{1:[{"gen":0,"queueId":3,"bname":"b1",'
        b'"logicOffset":0,"startOffset":0,"endOffset":-1,"timeOfStart":-1,"timeOfEnd":-1}]}}'
    )
    wire = Wire(body=quoted.replace(b'"mappingDetail":null', b'"mappingDetail":' + detail))

    reported = await ask(wire, GetStaticTopic("T"))

    assert wire.sent[:2] == (351, {"topic": "T", "lo": "true", "lqv": "1"})
    assert reported.layout == LAYOUT
    assert reported.mapping.hosted == {1: (QueueSegment(0, "b1", 3),)}
    assert await ask(Wire(body=quoted), GetStaticTopic("T")) == StaticTopic(LAYOUT, None)
    assert await ask(Wire(17), GetStaticTopic("T")) is None
    with pytest.raises(BrokerRefused, match="invalid at"):
        await ask(Wire(body=quoted.replace(b"null", b"{}")), GetStaticTopic("T"))


async def test_all_that_a_broker_keeps_of_a_topic_is_read_as_it_was_written():
    topic = BrokerTopic(
        MAPPING,
        QueueCounts(4, 4),
        prepared={0: PreparedQueue(9_000, 4, 101)},
        seals={1: SealRecord(9_000, 1, Seal(201, 70, 80)), 0: SealRecord(9_000, 0)},
        fences={1: 9_000},
        retired={2: RetiredQueue("b1", 2, 0, 3, 101, is_reusable=False)},
    )
    wire = Wire(body=java_json.encode({"T": topic}))

    assert await ask(wire, GetLogicalQueues()) == {"T": topic}
    assert wire.sent == (7015, {}, b"")


async def test_positions_of_a_topic_are_read_by_consumer_group():
    table = {"T@billing": {"0": 7, "3": 2**40}, "other@billing": {"0": 1}}
    wire = Wire(body=java_json.encode({"offsetTable": table}))

    found = await Brokers(wire).ask("b", GetPhysicalPositions("T"))

    assert found == {"billing": {0: 7, 3: 2**40}}


async def test_a_position_is_committed_in_a_physical_queue():
    fence = {"regentOperation": "1", "regentStep": "2", "regentFence": "3"}
    commit = UpdateConsumerOffset(
        consumer_group="billing",
        topic="T",
        queue_id=2,
        offset=101,
        is_logical=False,
        fence=fence,
    )
    wire = Wire()

    await Brokers(wire).ask("b", commit)

    code, ext, _ = wire.sent
    assert code == RequestCode.UPDATE_CONSUMER_OFFSET
    assert (ext["queueId"], ext["commitOffset"], ext["lo"]) == ("2", "101", "false")
    assert fence.items() <= ext.items()
