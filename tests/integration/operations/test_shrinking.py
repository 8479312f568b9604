"""The last queues of a static topic are sealed, removed once they are read, and come back (L8)."""

import pytest

from backend.brokers.errors import BrokerUnreachable
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.operation import OperationState as S
from backend.domain.operation import StepState
from backend.domain.plan import CheckVerdict
from backend.operations.engine import orders
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.operations.agents import ANNA
from tests.integration.operations.crashing import POINTS
from tests.integration.operations.test_static_topics import NOT_LEADER, A, B, T, Topic
from tests.long_form import chosen, stride
from tests.waiting import eventually


@pytest.fixture
async def topic(agents):
    made = Topic(agents)
    created = await made.create(4)
    assert created.state is S.DONE, created.outcome
    for name in (A, B):
        await made.call(name, lambda client: client.heartbeat("g", "orders"))
    await commit(made, A, 2, 0)
    return made


async def commit(topic, name, queue_id, offset):
    fields = {
        "consumerGroup": "g",
        "topic": "orders",
        "queueId": queue_id,
        "commitOffset": offset,
    }
    answer = await topic.call(
        name, lambda client: client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
    )
    assert answer.code == 0, answer.remark


async def position(topic, name, queue_id):
    fields = {
        "consumerGroup": "g",
        "topic": "orders",
        "queueId": queue_id,
        "setZeroIfNotFound": "false",
    }
    answer = await topic.call(
        name, lambda client: client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    )
    return int(answer.ext["offset"]) if answer.code == 0 else None


async def has_ended(agents, operation_id):
    await agents.run(operation_id)
    return (await agents.look(operation_id)).state not in {S.QUEUED, S.RUNNING}


async def shrink(topic, count, **more):
    agents = topic.agents
    planned = await agents.plan("shrink_static_topic", **T, queue_count=count, **more)
    await agents.confirm(planned)
    return await agents.end(planned.id)


async def test_queues_are_sealed_removed_once_read_and_come_back_at_higher_offsets_l8(
    topic, agents
):
    assert await topic.send(A, b"0", b"1", b"2", queue_id=2) == [0, 1, 2]

    waiting = await shrink(topic, 2)

    assert (waiting.state, waiting.next_step.state) == (S.QUEUED, StepState.WAITING)
    assert (waiting.next_step.name, waiting.next_step.error) == ("read", "g has 3 to read")
    mapping = await topic.mapping()
    assert (mapping.queue_count, mapping.writable_count) == (4, 2)
    assert await topic.send(A, b"3", queue_id=2) == NOT_LEADER
    assert await topic.send(B, b"0", queue_id=3) == NOT_LEADER
    assert await topic.read(A, queue_id=2, count=3) == [b"0", b"1", b"2"]
    assert await topic.is_sound()

    await commit(topic, A, 2, 3)
    ended = await agents.end(waiting.id)

    assert ended.state is S.DONE, ended.outcome
    assert (await topic.mapping()).queue_count == 2
    assert await topic.is_sound()

    grown = await agents.order("expand_static_topic", **T, queue_count=4)

    assert grown.state is S.DONE, grown.outcome
    assert (await topic.mapping()).queue(2).leader.logical_start == 3
    assert await topic.send(A, b"3", queue_id=2) == [3]
    # The group goes on where it was, though its queue has another place.
    assert await position(topic, A, 2) == 3
    assert await topic.is_sound()


async def test_a_shrink_that_waits_is_cancelled_and_undone_l8(topic, agents):
    await topic.send(A, b"0", queue_id=2)
    waiting = await shrink(topic, 2)
    await orders.cancel_operation(waiting.id, ANNA, agents.context)
    cancelled = await agents.end(waiting.id)
    assert cancelled.state is S.PARTLY

    undone = await agents.undo(cancelled)

    assert undone.state is S.DONE, undone.outcome
    mapping = await topic.mapping()
    assert (mapping.queue_count, mapping.writable_count) == (4, 4)
    assert await topic.send(A, b"1", queue_id=2) == [1]
    assert await topic.read(A, queue_id=2, count=2) == [b"0", b"1"]
    assert await topic.is_sound()


async def test_a_finished_shrink_is_undone_l8(topic, agents):
    ended = await shrink(topic, 3)
    assert ended.state is S.DONE, ended.outcome

    undone = await agents.undo(ended)

    assert undone.state is S.DONE, undone.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    assert await topic.is_sound()


async def test_a_shrink_whose_seals_have_no_answer_is_rolled_back_l45(topic, agents, monkeypatch):
    request = agents.client.request

    async def lose_seals(address, code, **more):
        answer = await request(address, code, **more)
        if code == RequestCode.SEAL_LOGICAL_QUEUE:
            raise BrokerUnreachable(address, "the answer was lost")
        return answer

    planned = await agents.plan("shrink_static_topic", **T, queue_count=3)
    await agents.confirm(planned)
    with monkeypatch.context() as broken:
        broken.setattr(agents.client, "request", lose_seals)
        await eventually(lambda: has_ended(agents, planned.id))
    assert await topic.send(B, b"0", queue_id=3) == NOT_LEADER

    undone = await agents.undo(await agents.look(planned.id))

    assert undone.state is S.DONE, undone.outcome
    assert await topic.send(B, b"0", queue_id=3) == [0]
    assert await topic.is_sound()


@pytest.mark.parametrize("name", chosen(POINTS, "after the effect", "commit"))
async def test_a_worker_that_dies_anywhere_in_a_shrink_is_replaced_l42(topic, agents, name):
    number, count, lives = 0, 4, False
    step = 1 if "effect" in name else stride(4)
    while not lives:
        kind = "shrink_static_topic" if count == 4 else "expand_static_topic"
        count = 3 if count == 4 else 4
        planned = await agents.plan(kind, **T, queue_count=count)
        await agents.confirm(planned)
        lives = await agents.run(planned.id, (name, step * (number // 2)))
        ended = await agents.look(planned.id) if lives else await agents.end(planned.id)
        lives = lives and kind == "shrink_static_topic"

        assert ended.state is S.DONE, (number, ended.outcome)
        assert (await topic.mapping()).queue_count == count
        assert await topic.is_sound()
        number += 1
    assert number > 4


async def test_a_group_that_is_waived_is_not_waited_for(topic):
    await topic.send(A, b"0", queue_id=2)

    ended = await shrink(topic, 2, waived_groups=["g"])

    assert ended.state is S.DONE, ended.outcome
    assert (await topic.mapping()).queue_count == 2


@pytest.mark.usefixtures("topic")
async def test_connected_producers_forbid_a_shrink_without_force(agents):
    client = await Client.connect(agents.brokers[B].port)
    await client.heartbeat("h", "orders", producerDataSet=[{"groupName": "billing"}])

    planned = await agents.plan("shrink_static_topic", **T, queue_count=3)
    forced = await agents.plan("shrink_static_topic", **T, queue_count=3, force=True)
    await client.close()

    assert planned.plan.block.name == "producers"
    assert "billing" in planned.plan.block.why
    [check] = [one for one in forced.plan.checks if one.name == "producers"]
    assert check.verdict is CheckVerdict.WARN


async def test_queues_do_not_move_while_a_shrink_waits(topic, agents):
    await topic.send(A, b"0", queue_id=2)
    waiting = await shrink(topic, 2)

    with pytest.raises(QueueChangeRefused, match="its queue count is being reduced"):
        await topic.move(0)
    assert (await agents.look(waiting.id)).state is S.QUEUED
