"""An ordinary topic becomes static in place: messages, offsets and positions stay."""

import pytest

from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable
from backend.operations.engine import following
from tests.integration.operations.agents import ANNA
from tests.integration.operations.test_shrinking import commit, position
from tests.integration.operations.test_static_topics import A, B, T, Topic


@pytest.fixture
async def topic(agents):
    made = await agents.order("create_topic", **T, read_queue_count=2, write_queue_count=2)
    assert made.state is S.DONE, made.outcome
    found = Topic(agents)
    for name in (A, B):
        await found.call(name, lambda client: client.heartbeat("g", "orders"))
    return found


async def test_messages_and_positions_stay_and_queues_move_afterwards(topic, agents):
    assert await topic.send(B, b"0", b"1", b"2", queue_id=1) == [0, 1, 2]
    await commit(topic, B, 1, 2)

    converted = await agents.order("convert_topic", **T)

    assert converted.state is S.DONE, converted.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    assert await topic.shown(3) == "[g0 broker-b:q1 L0 S0 E-]"
    assert await topic.is_sound()
    # The second queue of the second broker group is logical queue 3 now.
    assert await topic.send(B, b"3", queue_id=3) == [3]
    assert await position(topic, B, 3) == 2
    assert await topic.read(B, queue_id=3, count=4) == [b"0", b"1", b"2", b"3"]
    moved = await topic.move(3, to=A)
    assert moved.state is S.DONE, moved.outcome
    assert await topic.read(A, queue_id=3, count=4) == [b"0", b"1", b"2", b"3"]
    with pytest.raises(NotUndoable):
        await following.undo_operation(converted.id, ANNA, agents.context)


@pytest.mark.usefixtures("topic")
async def test_a_topic_that_can_not_be_static_is_refused(agents):
    with pytest.raises(QueueChangeRefused, match="no broker group has"):
        await agents.plan("convert_topic", topic_name="bills")
    await agents.order("change_topic", **T, read_queue_count=3)
    with pytest.raises(QueueChangeRefused, match="numbers of read and write queues differ"):
        await agents.plan("convert_topic", **T)
    await agents.order("create_topic", topic_name="late", message_type="DELAY")
    planned = await agents.plan("convert_topic", topic_name="late")
    assert planned.plan.block.name == "type of its messages"
    await agents.order("create_topic", topic_name="urgent", message_type="PRIORITY")
    planned = await agents.plan("convert_topic", topic_name="urgent")
    [check] = [one for one in planned.plan.checks if one.name == "type of its messages"]
    assert "priority" in check.why
    await agents.order("create_static_topic", topic_name="bills", queue_count=2)
    with pytest.raises(QueueChangeRefused, match="static already"):
        await agents.plan("convert_topic", topic_name="bills")


@pytest.mark.parametrize("name", ["after the effect", "commit"])
async def test_a_worker_that_dies_in_a_conversion_is_replaced(topic, agents, name):
    await topic.send(A, b"0", queue_id=1)
    planned = await agents.plan("convert_topic", **T)
    await agents.confirm(planned)
    for number in range(1, 5):
        await agents.run(planned.id, (name, number))

    ended = await agents.end(planned.id) if await _is_open(agents, planned) else None

    assert (ended or await agents.look(planned.id)).state is S.DONE
    assert await topic.read(A, queue_id=1, count=1) == [b"0"]
    assert await topic.is_sound()


async def _is_open(agents, planned):
    return (await agents.look(planned.id)).state is not S.DONE
