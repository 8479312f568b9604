"""Dead letters that are sent again: each once, past crashes, and no second time unnoticed."""

import pytest
from regent_engine import parse_offset_message_id

from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.sending import StoreMessage
from backend.domain.operation import ATTEMPTS_MAX
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import (
    DeadLettersNotFound,
    NotUndoable,
    PlanBlocked,
    PreconditionMoved,
)
from backend.operations.engine import orders
from backend.remoting import java_json
from backend.remoting.bodies import TopicConfig
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, messages
from tests.integration.operations.agents import ANNA
from tests.integration.operations.crashing import POINTS, points
from tests.integration.operations.test_broker_kinds import put_group, put_topic
from tests.integration.operations.test_broker_plans import checks
from tests.long_form import few

KIND = "resend_dead_letters"
DEAD, RETRY = "%DLQ%billing", "%RETRY%billing"
ALL = {"consumer_group_name": "billing"}


@pytest.fixture
async def client(agents):
    await put_topic(agents)
    await put_group(agents)
    connected = await Client.connect(agents.brokers["broker-a"].port)
    yield connected
    await connected.close()


async def die(client, count, *, first=0, topic="orders"):
    """Have messages become dead letters of the group."""
    for number in range(first, first + count):
        given = {"KEYS": f"k{number}", "TAGS": "red", "source": "test", "UNIQ_KEY": f"U-{number}"}
        sent = await client.send(topic, b"body %d" % number, properties=given)
        position = parse_offset_message_id(sent.ext["msgId"])[2]
        header = {"offset": position, "group": "billing", "delayLevel": -1, "originTopic": topic}
        answer = await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, header)
        assert answer.code == 0, answer.remark


async def read(client, topic, queue_id=0):
    found = []
    while True:
        pulled = await client.pull(
            topic, consumerGroup="billing", queueId=queue_id, queueOffset=len(found), sysFlag=4
        )
        if pulled.code != 0:
            return found
        found += messages(pulled)


async def test_all_dead_letters_are_sent_to_the_retry_topic_once_as_they_were(agents, client):
    await die(client, 5)

    done = await agents.order(KIND, **ALL)
    copies, letters = await read(client, RETRY), await read(client, DEAD)

    assert done.state is S.DONE, done.outcome
    assert [one.body for one in copies] == [b"body %d" % number for number in range(5)]
    for number, (copy, letter) in enumerate(zip(copies, letters, strict=True)):
        kept = {"KEYS": f"k{number}", "TAGS": "red", "source": "test", "UNIQ_KEY": f"U-{number}"}
        assert (kept | {"RETRY_TOPIC": "orders"}).items() <= copy.properties.items()
        assert copy.properties["REGENT_OPERATION"] == str(done.id)
        assert (copy.reconsume_times, letter.reconsume_times) == (0, 1)
        assert copy.born_timestamp_ms == letter.born_timestamp_ms
        assert "DELAY" not in copy.properties
    assert len({one.properties["REGENT_DEAD_LETTER"] for one in copies}) == 5
    assert done.steps[0].after["sent"] == 5
    assert [one.observed for one in done.read_back] == ["5 copies, one of each"]
    with pytest.raises(NotUndoable, match="can't be taken back"):
        await agents.undo(done)


async def test_the_plan_says_what_is_sent_where_and_what_may_become_of_it(agents, client):
    await die(client, 3)

    planned = await agents.plan(KIND, **ALL, count_max=2, messages_per_second=1)

    assert planned.plan.summary == (
        "Send 2 dead letters of consumer group billing to %RETRY%billing"
    )
    assert planned.plan.risk_label == "affects service, can't be undone"
    assert [one["keys"] for one in planned.plan.facts["sample"]] == [["k0"], ["k1"]]
    assert [one["topic"] for one in planned.plan.facts["sample"]] == ["orders"] * 2
    found = checks(planned)
    assert found["consumers"] == (
        "warn",
        "no consumer of the group is connected: the copies wait until one is",
    )
    assert found["all dead letters"][1].startswith("1 more stay")
    assert "retried up to 16 times" in found["the cause is removed"][1]


async def test_what_was_sent_before_is_left_out_unless_it_is_ordered_again(agents, client):
    await die(client, 3)
    [first, *_] = await read(client, DEAD)
    ids = [first.properties["ORIGIN_MESSAGE_ID"]]
    wrong = {**ALL, "message_ids": ids}
    with pytest.raises(DeadLettersNotFound, match="is a message of topic orders"):
        await agents.plan(KIND, **wrong)
    stale = await agents.plan(KIND, **ALL)
    sample = stale.plan.facts["sample"]

    one = await agents.order(KIND, **ALL, message_ids=[sample[1]["message_id"]])
    with pytest.raises(PreconditionMoved, match="dead letters resent before"):
        await agents.confirm(stale)
    rest = await agents.order(KIND, **ALL)
    with pytest.raises(DeadLettersNotFound, match="all 3 were resent before"):
        await agents.plan(KIND, **ALL)
    again = await agents.order(KIND, **ALL, includes_resent=True)
    copies = await read(client, RETRY)

    assert [done.state for done in (one, rest, again)] == [S.DONE] * 3
    assert checks(rest)["resent before"] == (
        "warn",
        "1 dead letters were resent before and are left out",
    )
    assert [copy.body[-1:] for copy in copies] == [b"1", b"0", b"2", b"0", b"1", b"2"]


async def test_copies_go_to_the_original_topic_and_say_nothing_of_the_group(agents, client):
    await die(client, 2)

    done = await agents.order(KIND, **ALL, destination="topic")
    found = [one for queue_id in range(4) for one in await read(client, "orders", queue_id)]
    copies = [one for one in found if "REGENT_OPERATION" in one.properties]

    assert done.state is S.DONE, done.outcome
    assert sorted(one.body for one in copies) == [b"body 0", b"body 1"]
    assert not any("RETRY_TOPIC" in one.properties for one in copies)
    assert not any("ORIGIN_MESSAGE_ID" in one.properties for one in copies)


async def test_a_dead_letter_whose_topic_was_deleted_keeps_back_no_other(agents, client):
    agents.agent("broker-a").put_topic(
        TopicConfig(name="gone", read_queue_count=1, write_queue_count=1)
    )
    await die(client, 1, topic="gone")
    await die(client, 1, first=1)
    await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "gone"})

    done = await agents.order(KIND, **ALL, destination="topic")
    found = [one for queue_id in range(4) for one in await read(client, "orders", queue_id)]

    assert [one.body for one in found if "REGENT_OPERATION" in one.properties] == [b"body 1"]
    assert done.state is S.PARTLY
    assert "code 17" in done.steps[0].after["refused"]["0"]
    assert "offset 0 refused (code 17" in done.read_back[0].observed


async def test_a_group_that_holds_queue_locks_is_not_sent_to_its_retry_topic(agents, client):
    await die(client, 1)
    await client.heartbeat("billing", "orders", client_id="one")
    queue = {"topic": "orders", "brokerName": "broker-a", "queueId": 0}
    wish = {"clientId": "one", "consumerGroup": "billing", "mqSet": [queue]}
    await client.call(RequestCode.LOCK_BATCH_MQ, body=java_json.encode(wish))

    planned = await agents.plan(KIND, **ALL)
    with pytest.raises(PlanBlocked):
        await agents.confirm(planned)
    elsewhere = await agents.order(KIND, **ALL, destination="topic")

    assert checks(planned)["ordered consumption"][0] == "block"
    assert checks(planned)["consumers"] == ("pass", "1 are connected")
    assert elsewhere.state is S.DONE, elsewhere.outcome


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_that_dies_anywhere_sends_nothing_twice_and_loses_nothing(
    agents, client, name
):
    """Each round has separate dead letters, and kills the worker a little later."""
    for passed in points(name):
        await die(client, 2, first=2 * passed)
        planned = await agents.plan(KIND, **ALL)
        await agents.confirm(planned)
        lives = await agents.run(planned.id, (name, passed))
        while (found := await agents.look(planned.id)).state in {S.QUEUED, S.RUNNING}:
            await agents.run(planned.id)

        copies = await read(client, RETRY)
        bodies = [one.body for one in copies]
        assert found.state is S.DONE, (passed, found.outcome)
        assert sorted(bodies) == sorted(set(bodies))
        assert len(bodies) == 2 * (passed + 1)
        if lives:
            break

    assert passed > 1


async def test_what_was_sent_without_an_answer_is_found_when_the_operation_is_retried(
    agents, client, monkeypatch
):
    await die(client, 2)
    send, sent = StoreMessage.put, []

    async def lose_the_answer(request, brokers, address):
        if not sent:
            sent.append(await send(request, brokers, address))
        raise BrokerUnreachable(address, "no answer")

    planned = await agents.plan(KIND, **ALL)
    await agents.confirm(planned)
    with monkeypatch.context() as losing:
        losing.setattr(StoreMessage, "put", lose_the_answer)
        for _ in range(ATTEMPTS_MAX):
            open_still = await agents.end(planned.id)
    await orders.retry_operation(planned.id, ANNA, agents.context)
    done = await agents.end(planned.id)

    assert open_still.state is S.UNKNOWN
    assert done.state is S.DONE, done.outcome
    assert (done.steps[0].after["sent"], done.steps[0].after["sent_before"]) == (1, 1)
    assert [one.body for one in await read(client, RETRY)] == [b"body 0", b"body 1"]


async def test_a_copy_that_was_sent_twice_all_the_same_is_noticed(agents, client, monkeypatch):
    await die(client, 2)
    send = StoreMessage.put

    async def send_twice(request, brokers, address):
        await send(request, brokers, address)
        return await send(request, brokers, address)

    with monkeypatch.context() as stuttering:
        stuttering.setattr(StoreMessage, "put", send_twice)
        done = await agents.order(KIND, **ALL)

    assert done.state is S.PARTLY
    assert done.read_back[0].observed == "4 copies: 2 of offset 0, 2 of offset 1"


async def test_a_batch_that_is_open_blocks_another_resend(agents, client):
    await die(client, 2)
    planned = await agents.plan(KIND, **ALL)
    await agents.confirm(planned)
    await agents.run(planned.id, ("after the effect", 0))

    other = await agents.plan(KIND, **ALL)

    assert checks(other)["other resends"][0] == "block"
    assert str(planned.id) in checks(other)["other resends"][1]


async def test_more_than_a_batch_is_sent_in_several_steps(agents, client):
    await die(client, 101)

    planned = await agents.plan(KIND, **ALL, messages_per_second=1_000)

    assert [one.title for one in planned.steps] == [
        "Send 100 dead letters of broker-a queue 0, offsets 0 to 99",
        "Send 1 dead letters of broker-a queue 0, offsets 100 to 100",
    ]
