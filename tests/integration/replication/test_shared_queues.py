"""Share queues of a SHARED topic: members own them, and the master is the sequencer (ADR 23)."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import msgspec
import pytest

from backend.remoting import java_json
from backend.remoting.bodies.shares import ShareMessagesBody
from backend.remoting.request_code import RequestCode
from backend.rules.attributes import SHARED_MODE
from tests.integration.broker.client import Client
from tests.integration.broker.popping import (
    ack,
    bodies,
    change,
    handle_fields,
    pop,
    pop_fields,
    popped,
)
from tests.integration.replication.share_members import (
    CONSUMERS,
    NAMES,
    TOPIC,
    Members,
    call_all,
    refused,
    store_with_topic,
    topic_of,
)
from tests.waiting import eventually
from workers.broker.processors import pop as pop_requests
from workers.broker.shares import share_queues
from workers.broker.shares.member_shares import ShareName

NOT_SERVED = 14
VOID = 208
ONE, TWO = NAMES
MESSAGE_COUNT = 200


@pytest.fixture
async def members(group):
    """Three members in this process, all in sync. No share queue has an owner yet."""
    async with AsyncExitStack() as stack:
        members = Members(group, stack)
        for broker_id in (1, 2, 3):
            await members.start(broker_id)
        await members.begin(master=1)
        yield members


@pytest.fixture
async def survivors(group):
    """A master in another process, which can be killed, and two members in this one."""
    async with AsyncExitStack() as stack:
        await group.add(storePathRootDir=str(store_with_topic(group)))
        await group.await_state(1, 1, {1})
        members = Members(group, stack)
        for broker_id in (2, 3):
            await members.start(broker_id)
        await members.begin(master=1)
        yield members


async def pop_some(member, **fields):
    return await pop(await member.consume(), TOPIC, CONSUMERS, **fields)


async def test_a_member_hands_out_what_it_owns_from_its_own_copy(members):
    # Q19, Q23, Q24, Q89, Q91: a member that does not own a queue names the owner.
    sent = await members.send(1, 4)
    await members.own(2, [ONE])

    found = await pop_some(members[2])

    assert bodies(found) == sent[::2]
    told = await refused(await members[3].consume(), queueId=0)
    assert told.ext["ownerHint"] == "broker-t@2"
    assert "ownerHint" not in (await refused(await members[1].consume(), queueId=1)).ext
    # Any member takes the acknowledgement.
    assert await ack(members[3].client, found[0]) == 0
    assert await ack(members[2].client, found[1]) == 0
    await members.await_equal_states()
    assert await pop_some(members[2]) == []


async def test_a_consumer_that_waits_at_a_replica_gets_a_message_once_it_is_confirmed(members):
    await members.own(2)
    client = await members[2].consume()
    waiting = asyncio.ensure_future(pop(client, TOPIC, CONSUMERS, pollTime=30_000))

    (body,) = await members.send(1, 1)

    assert bodies(await waiting) == [body]


async def test_o3_no_message_is_with_two_consumers_and_each_is_accepted_once(members):
    # Q8, Q18, Q69: the queues change hands meanwhile. O21, O22: accepts go on at any member.
    delivered, accepted, left = Counter(), Counter(), MESSAGE_COUNT

    async def work(member, other):
        nonlocal left
        client = await member.consume()
        while left > 0:
            fields = pop_fields(TOPIC, CONSUMERS, maxMsgNums=4, pollTime=200)
            reply = await client.call(RequestCode.POP_MESSAGE, fields)
            # The queues may be with other members now.
            for one in popped(reply) if reply.code == 0 else []:
                delivered[one.body] += 1
                assert await ack(other.client, one) == 0
                accepted[one.body] += 1
                left -= 1

    async def hand_on():
        holder = 1
        await members.own(holder)
        while left > 0:
            await asyncio.sleep(0.2)
            for name in NAMES:
                await members[holder].shares.give_back(name, wants_again=True)
            holder = holder % 3 + 1
            await members.own(holder)

    sending = asyncio.ensure_future(members.send(1, MESSAGE_COUNT))
    moving = asyncio.ensure_future(hand_on())
    # Ten consumers at each member.
    pairs = [(1, 2), (2, 3), (3, 1), (2, 1), (3, 2), (1, 3)] * 5
    await asyncio.gather(*(work(members[one], members[other]) for one, other in pairs))
    sent = await sending
    await moving

    assert sorted(accepted) == sent
    assert set(accepted.values()) == {1}
    assert set(delivered.values()) == {1}
    await members.await_equal_states()


async def test_o4_what_is_accepted_is_never_delivered_again(survivors):
    members = survivors
    sent = await members.send(1, 6)
    await members.own(2)
    found = await pop_some(members[2], maxMsgNums=32)
    assert (
        await call_all(
            members[3].client.start(RequestCode.ACK_MESSAGE, handle_fields(one, CONSUMERS))
            for one in found[:3]
        )
        == [0] * 3
    )

    members.group.kill(1)
    await next_master(members)
    # The lease of the owner has ended as well: the next one knows what is finished.
    await members.own(3)

    assert await pop_some(members[3]) == []
    assert {await accept_surely(members[3].client, one) for one in found[3:]} == {0}
    assert bodies(found) == sent


async def test_o11_the_next_owner_delivers_nothing_that_the_former_one_handed_out(members):
    # `commit`: no delivery is unknown, so none comes again before its time is over.
    sent = await members.send(1, 4)
    await members.own(2)
    first = await pop_some(members[2], maxMsgNums=1)
    await members[2].server.close()
    del members.members[2]

    await members.own(3)
    rest = [*await pop_some(members[3]), *await pop_some(members[3])]

    assert bodies([*first, *rest]) == sent
    assert await ack(members[3].client, first[0]) == 0


async def test_o12_a_late_accept_counts_until_another_consumer_has_the_message(members):
    await members.send(1, 1)
    await members.own(2, [ONE])
    (first,) = await pop_some(members[2], invisibleTime=300)

    (again,) = await pop_some(members[2], pollTime=30_000)

    assert again.reconsume_times == 1
    assert await ack(members[1].client, first) == VOID
    assert await ack(members[1].client, again) == 0
    await members.send(1, 1)
    (late,) = await pop_some(members[2], invisibleTime=300)
    state = members[1].state(ONE)
    # The owner says that the time is over.
    await eventually(lambda: members[1].state(ONE) != state)
    assert await ack(members[1].client, late) == 0
    await members.await_equal_states()


async def test_o14_a_handle_is_void_after_its_renewal(members):
    await members.send(1, 1)
    await members.own(2, [ONE])
    (found,) = await pop_some(members[2])

    told = await change(members[3].client, found, 60_000, CONSUMERS)

    assert told.code == 0
    assert await ack(members[2].client, found) == VOID
    fields = found.handle.split(" ")
    fields[1] = told.ext["popTime"]
    handle = handle_fields(found, CONSUMERS, extraInfo=" ".join(fields))
    assert (await members[2].client.call(RequestCode.ACK_MESSAGE, handle)).code == 0


async def test_o13_after_a_change_of_the_mode_an_accept_of_before_it_counts(members):
    # The acquisition was in the memory of the master alone, and is lost with the change.
    master = members[1].server.broker
    master.put_topic(topic_of("PRIMARY"))
    await eventually(lambda: not any(one.shares.is_any for one in members.members.values()))
    await members.send(1, 2)
    found = await pop_some(members[1])
    assert len(found) == 2

    master.put_topic(topic_of("SHARED"))
    await members.name(1)

    assert await ack(members[1].client, found[0]) == 0
    await members.own(3)
    assert bodies(await pop_some(members[3])) == [found[1].body]
    await members.await_equal_states()


async def test_o21_a_queue_that_is_given_back_ends_its_deliveries_first(members):
    # Q28. The consumer that waits goes elsewhere.
    await members.send(1, 2)
    await members.own(2)
    client, sequencer = await members[2].consume(), members[1].server.broker.hot
    end = sequencer.shares_end
    popping = asyncio.ensure_future(pop(client, TOPIC, CONSUMERS))
    await eventually(lambda: sequencer.shares_end > end)

    await asyncio.gather(*(members[2].shares.give_back(name, wants_again=False) for name in NAMES))

    assert members[2].shares.owned() == {}
    assert {one.owner for one in members[2].shares.seen().values()} == {None}
    first = await popping
    await members.own(3)
    second = [*await pop_some(members[3]), *await pop_some(members[3])]
    assert bodies([*first, *second]) == [b"0000", b"0001"]


async def test_o23_a_former_owner_delivers_nothing_and_its_records_are_refused(members):
    await members.send(1, 2)
    await members.own(2)
    stale = members[2].server.broker.hot.own_record(*ONE, members.epochs[ONE])

    # The lease has ended, which this member does not notice.
    epoch = await members[1].shares.own_as_sequencer(ONE)

    assert epoch == members.epochs[ONE] + 1
    assert not await members[2].shares.own(ONE, members.epochs[ONE])
    verdict, _ = await members[1].shares.append(2, stale)
    assert verdict == "FENCED"
    await eventually(lambda: members[2].shares.owned() == {TWO: members.epochs[TWO]})
    assert bodies(await pop_some(members[1])) == [b"0000"]
    assert bodies(await pop_some(members[2])) == [b"0001"]


async def set_group(members, **fields):
    """Change the consumer group at the master; the others learn it from the log."""
    body = java_json.encode({"groupName": CONSUMERS} | fields)
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    assert (await members[1].client.call(code, body=body)).code == 0
    known = [one.server.broker.groups for one in members.members.values()]
    wanted = known[0].find(CONSUMERS)
    await eventually(lambda: all(groups.find(CONSUMERS) == wanted for groups in known))


async def test_o10_messages_of_a_client_that_has_left_its_owner_come_again(members, monkeypatch):
    # Q12.
    monkeypatch.setattr(share_queues, "CLIENT_GRACE_S", 0.1)
    await set_group(members, attributes={"+releaseOnDisconnect": "true"})
    await members.send(1, 1)
    await members.own(2, [ONE])
    gone = await Client.connect(members[2].server.port)
    await gone.heartbeat(CONSUMERS, TOPIC, client_id="gone")
    assert len(await pop(gone, TOPIC, CONSUMERS)) == 1
    waiting = asyncio.ensure_future(pop_some(members[2], pollTime=30_000))

    await gone.close()

    (again,) = await waiting
    assert again.reconsume_times == 1


async def test_o8_a_message_that_was_delivered_too_often_is_given_up_by_the_sequencer(members):
    # Its owner is a replica, and says only that the time is over.
    await set_group(members, retryMaxTimes=1)
    await members.name(1)
    await members.send(1, 1)
    await members.own(2, [ONE])
    (found,) = await pop_some(members[2], invisibleTime=300)

    store = members[1].server.broker.store
    await eventually(lambda: store.offsets("%DLQ%g", 0) == (0, 1))

    # A message that is finished stays so.
    assert await ack(members[3].client, found) == 0
    assert await pop_some(members[2]) == []
    await members.await_equal_states()


async def test_o7_a_message_that_is_given_back_for_long_comes_from_the_retry_topic(
    members, monkeypatch
):
    # No POP reaches the master, which names the share queue of the retry topic all the same.
    monkeypatch.setattr(pop_requests, "MOVE_DELAY_MS", 0)
    await members.send(1, 1)
    await members.own(2, [ONE])
    (found,) = await pop_some(members[2])
    retry = ShareName("%RETRY%g+orders", 0, CONSUMERS)

    fields = handle_fields(found, CONSUMERS, invisibleTime=100, release="true")
    told = await members[2].client.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)

    assert told.code == 0
    await eventually(lambda: retry in members[2].shares.seen())
    await members.own(2, [retry])
    (again,) = await pop_some(members[2], pollTime=30_000)
    assert (again.body, again.topic) == (found.body, retry.topic)
    assert await ack(members[3].client, again) == 0


async def test_a_replica_refuses_to_pop_topics_in_primary_mode(members):
    # Q86, O28: it has the lane, since another topic is in SHARED mode.
    topic = msgspec.structs.replace(topic_of("PRIMARY"), name="primary")
    members[1].server.broker.put_topic(topic)
    client = await members[2].consume()

    for code in (RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION):
        told = await client.call(code, pop_fields("primary", CONSUMERS))
        assert told.code == NOT_SERVED, told.remark
        assert "serves POP of topics in PRIMARY mode" in told.remark


async def test_a_queue_that_a_topic_gets_is_shared_too(members):
    await members.own(2)
    topic = msgspec.structs.replace(topic_of(SHARED_MODE), read_queue_count=3, write_queue_count=3)

    members[1].server.broker.put_topic(topic)

    third = ShareName(TOPIC, 2, CONSUMERS)
    await eventually(lambda: third in members[3].shares.seen())
    await members.own(3, [third])
    answer = await members[1].client.send(TOPIC, b"new", queue_id=2)
    assert answer.code == 0
    assert bodies(await pop_some(members[3], pollTime=30_000)) == [b"new"]


async def test_a_consumer_that_waits_at_a_former_owner_goes_elsewhere(members):
    await members.own(2)
    waiting = members[2].client.start(
        RequestCode.POP_MESSAGE, pop_fields(TOPIC, CONSUMERS, pollTime=600_000)
    )
    hot = members[2].server.broker.hot
    await eventually(lambda: hot.pop_count(TOPIC, -1, CONSUMERS) == 1)

    for name in NAMES:
        assert await members[1].shares.own_as_sequencer(name)
    # The POP goes on to wait at the next owner, or the consumer asks again.
    (body,) = await members.send(1, 1)
    told = await waiting
    found = await pop_some(members[2], pollTime=30_000) if told.code else popped(told)
    assert bodies(found) == [body]


async def test_a_delivery_whose_record_gets_no_answer_is_withdrawn(survivors):
    # The consumer gets no message, and the message comes again once the sequencer is back.
    members = survivors
    await members.send(1, 1)
    await members.own(2, [ONE])
    await members.group.pause(1)

    assert await pop_some(members[2]) == []

    members.group.resume(1)
    # On a busy machine another master is elected meanwhile, and the consumer asks again.
    (found,) = await eventually(lambda: pop_some(members[2], pollTime=5_000))
    assert found.body == b"0000"
    assert await accept_surely(members[3].client, found) == 0
    assert await pop_some(members[2]) == []


async def test_o31_an_owner_goes_on_after_its_sequencer_died(survivors):
    # Q88, Q90. What is with consumers stays there, and leases of living members stay valid.
    members = survivors
    sent = await members.send(1, 4)
    await members.own(3)
    found = await pop_some(members[3], maxMsgNums=3)
    owned = members[3].shares.owned()

    members.group.kill(1)
    accepting = asyncio.ensure_future(accept_surely(members[3].client, found[0]))
    await next_master(members)

    assert await accepting == 0
    assert members[3].shares.owned() == owned
    assert {one.owner for one in members[2].shares.seen().values()} == {3}
    await refused(await members[2].consume(), queueId=0)
    assert [await accept_surely(members[3].client, one) for one in found[1:]] == [0, 0]
    rest = await eventually(lambda: pop_some(members[3]))
    assert bodies([*found, *rest]) == sent


async def test_a_fallback_after_a_failover_owns_only_what_no_living_member_does(survivors):
    members = survivors
    await members.own(2, [ONE])
    await members.own(3, [TWO])

    members.group.kill(1)
    master = await next_master(members)

    owners = {name: one.owner for name, one in members[master].shares.seen().items()}
    assert owners == {ONE: 2, TWO: 3}
    gone = ONE if master == 3 else TWO
    epoch = await members[master].shares.own_as_sequencer(gone)
    assert epoch == members.epochs[gone] + 1
    assert members[master].shares.owner_of(*gone) == master
    sent = await members.send(master, 2)
    assert bodies([*await pop_some(members[master]), *await pop_some(members[master])]) == sent


async def accept_surely(client, message):
    """Accept a message, as a client does that tries again; give the code of the outcome."""

    async def is_known():
        code = await ack(client, message, CONSUMERS)
        return None if code in {1, 2, 14} else (code,)

    return (await eventually(is_known))[0]


async def next_master(members):
    """Wait until one of two members leads, and the other follows; give its id."""

    def leading():
        return next(
            (
                broker_id
                for broker_id, one in members.members.items()
                if one.server.broker.shares.is_leading
            ),
            None,
        )

    master = await eventually(leading)
    (other,) = set(members.members) - {master}
    await eventually(lambda: members[other].shares.follows)
    return master


async def test_a_message_with_a_consumer_of_another_member_does_not_pass_for_one_of_a_gone_client(
    members,
):
    # Else a release, which means the messages of gone clients, would deliver it a second time.
    await members.send(1, 1)
    await members.own(2)
    assert len(await pop_some(members[2])) == 1

    fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": CONSUMERS}
    told = await members[1].client.call(RequestCode.GET_SHARE_MESSAGES, fields)

    (message,) = java_json.decode(told.body, ShareMessagesBody).messages
    assert (message.is_acquired, message.is_connected, message.client_id) == (True, True, None)
