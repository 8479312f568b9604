"""Static topics are exported, lost and imported again, from files of RocketMQ's form or brokers."""

import json

import pytest

from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingBroken
from backend.domain.logical_queue.stock_json import decode_plan_file, encode_plan_file
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable
from backend.operations.engine import following
from backend.services.logical_queue.importing import export_topic
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.integration.operations.test_static_topics import NOT_LEADER, A, B, T, Topic
from tests.lost_rows import forget_rows


@pytest.fixture
def topic(agents):
    return Topic(agents)


async def export(topic):
    plan = await export_topic(
        CLUSTER, "orders", database=topic.agents.database, brokers=topic.agents.context.brokers
    )
    return encode_plan_file(plan)


async def wipe(agents):
    await forget_rows(agents.database, "static_topics", "logical_queue_changes")


async def bring_in(topic, document=None, **more):
    return await topic.agents.order("import_static_topic", **T, document=document, **more)


@pytest.mark.parametrize("with_file", [True, False])
async def test_a_lost_topic_is_restored_with_its_settings_l65(topic, agents, with_file):
    await topic.create(4, offset_mode="block")
    await topic.send(A, b"0", b"1")
    await topic.move(0)
    await topic.move(2, to=B)
    # One queue is removed, so that its end has to be known.
    await topic.send(B, b"0", queue_id=3)
    shrunk = await agents.order("shrink_static_topic", **T, queue_count=3, force=True)
    assert shrunk.state is S.DONE, shrunk.outcome
    before, document = await topic.mapping(), await export(topic)
    assert [one.logical_end for one in before.ended] == [1]
    await wipe(agents)

    restored = await bring_in(topic, document if with_file else None)

    assert restored.state is S.DONE, restored.outcome
    assert await topic.mapping() == before
    assert await export(topic) == document
    assert await topic.is_sound()
    assert (await topic.move(0, to=A)).state is S.DONE
    with pytest.raises(NotUndoable):
        await following.undo_operation(restored.id, ANNA, agents.context)


async def test_the_file_has_the_form_of_rocketmq_and_is_the_same_after_it_was_read(topic):
    await topic.create(4)
    await topic.send(A, b"0")
    await topic.move(0)

    document = await export(topic)

    assert encode_plan_file(decode_plan_file(document)) == document
    found = json.loads(document)
    assert found.keys() == {
        "brokerConfigMap",
        "brokerToMapIn",
        "brokerToMapOut",
        "epoch",
        "topic",
        "type",
    }
    assert (found["topic"], found["type"]) == ("orders", "CREATE_OR_UPDATE")
    detail = found["brokerConfigMap"][B]["mappingDetail"]
    assert [one["bname"] for one in detail["hostedQueues"]["0"]] == [A, B]
    assert found["brokerConfigMap"][B]["writeQueueNums"] == 3


async def test_a_change_that_is_lost_after_a_seal_goes_on_from_its_file_l54(topic, agents):
    await topic.create(4)
    assert await topic.send(A, b"0", b"1") == [0, 1]
    operation_id = await topic.begin_move(0, 2)
    # Two places are reserved, and confirmed before the seal of the first queue.
    assert not await agents.run(operation_id, ("after the effect", 4))
    document = await export(topic)
    assert json.loads(document)["type"] == "REMAPPING"
    assert await topic.send(A, b"2") == NOT_LEADER
    await wipe(agents)

    resumed = await bring_in(topic, document)

    assert resumed.state is S.DONE, resumed.outcome
    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E2] [g1 broker-b:q2 L2 S0 E-]"
    assert await topic.leaders() == {B: 4}
    assert await topic.read(B, count=2) == [b"0", b"1"]
    assert await topic.is_sound()
    undone = await agents.undo(resumed)
    assert undone.state is S.DONE, undone.outcome
    assert await topic.leaders() == {A: 2, B: 2}


async def test_a_plan_of_rocketmq_moves_queues_of_a_topic_that_is_there(topic):
    await topic.create(4)
    await topic.send(A, b"0")
    plan = json.loads(await export(topic))
    # As mqadmin remappingStaticTopic plans the move of queue 0, before any broker knows of it.
    epoch = plan["epoch"] + 1_000
    lists = plan["brokerConfigMap"][A]["mappingDetail"]["hostedQueues"]["0"]
    lists.append({**lists[0], "bname": B, "gen": 1, "queueId": 2, "logicOffset": -1})
    plan["brokerConfigMap"][B]["mappingDetail"]["hostedQueues"]["0"] = lists
    for one in plan["brokerConfigMap"].values():
        one["mappingDetail"]["epoch"] = epoch
    for name in ("readQueueNums", "writeQueueNums"):
        plan["brokerConfigMap"][B][name] += 1
    plan |= {"epoch": epoch, "type": "REMAPPING", "brokerToMapIn": [B], "brokerToMapOut": [A]}

    moved = await bring_in(topic, json.dumps(plan))

    assert moved.state is S.DONE, moved.outcome
    assert (await topic.mapping()).epoch == epoch
    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E1] [g1 broker-b:q2 L1 S0 E-]"
    assert await topic.is_sound()


async def test_files_that_would_lose_something_are_refused(topic):
    await topic.create(4)
    old = await export(topic)
    with pytest.raises(QueueChangeRefused, match="it has epoch"):
        await bring_in(topic, old)
    await topic.send(A, b"0")
    await topic.move(0)

    with pytest.raises(QueueChangeRefused, match="older than epoch"):
        await bring_in(topic, old)
    with pytest.raises(QueueChangeRefused, match="other segments of logical queue 0"):
        await bring_in(topic, old, force=True)
    with pytest.raises(QueueChangeRefused, match="its mapping is not lost"):
        await bring_in(topic)
    other = old.replace('"topic":"orders"', '"topic":"bills"').replace("orders", "bills")
    with pytest.raises(QueueChangeRefused, match="the file is of topic 'bills'"):
        await bring_in(topic, other)


async def test_force_applies_a_file_of_an_older_epoch_in_a_new_one(topic):
    await topic.create(4)
    document = await export(topic)
    await topic.choose(targets=[A, B])
    before = await topic.mapping()

    forced = await bring_in(topic, document, force=True)

    assert forced.state is S.DONE, forced.outcome
    after = await topic.mapping()
    assert (after.epoch >= before.epoch + 1_000, after.queues) == (True, before.queues)
    assert await topic.is_sound()


async def test_tables_are_not_rebuilt_over_a_change_that_is_under_way(topic, agents):
    await topic.create(4)
    operation_id = await topic.begin_move(0)
    assert not await agents.run(operation_id, ("after the effect", 2))
    await wipe(agents)

    with pytest.raises(QueueMappingBroken, match="logical queue 0: broker group broker-a") as held:
        await bring_in(topic)

    assert any("sealed in epoch" in one for one in held.value.findings)
    assert await topic.stored() is None
