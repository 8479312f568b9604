"""POPs of a shared topic at a member: its own queues first, then those of the owners in turn."""

import asyncio
import contextlib
from types import SimpleNamespace

import pytest
from regent_engine import Decoder

from backend.remoting.bodies import TopicConfig
from backend.remoting.command import answer, request
from backend.remoting.errors import RequestTooLarge
from backend.remoting.headers import PopMessageHeader, decode_header
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.unit.broker.shared_members import Lane, Shares, settle
from tests.unit.engine.builders import open_store
from workers.broker.errors import Refusal
from workers.broker.shares.member_shares import ShareName
from workers.broker.shares.share_incidents import ShareIncidents
from workers.broker.shares.shared_pops import WAITING_COUNT_MAX, SharedPops

NAMES = [ShareName("orders", queue_id, "billing") for queue_id in range(8)]
HERE = 3


class Caller:
    def __init__(self):
        self.is_gone = False
        self.frames = asyncio.Queue()

    def send(self, frame, body=b""):
        self.frames.put_nowait(frame + body)

    async def answer(self):
        (command,) = Decoder().receive(await asyncio.wait_for(self.frames.get(), 30))
        return command


class Keeper:
    def __init__(self):
        self.wanted, self.is_silent = set(), False

    def want(self, names):
        self.wanted |= set(names)

    async def await_change(self, timeout_s):
        await asyncio.sleep(timeout_s)


class Owners:
    """The other members: what each answers to a POP; the requests that came."""

    def __init__(self):
        self.replies, self.asked = {}, []

    async def find(self, broker_id):
        if broker_id not in self.replies:
            raise ConnectionError("nobody listens there")
        return SimpleNamespace(connected=lambda: self._connected(broker_id))

    @contextlib.asynccontextmanager
    async def _connected(self, broker_id):
        async def pass_on(command, fields):
            self.asked.append((broker_id, dict(command.ext) | dict(fields)))
            reply = self.replies[broker_id]
            (read,) = Decoder().receive(reply(command) if callable(reply) else reply)
            return read

        async def call(code, ext):
            assert code == RequestCode.CHANGE_MESSAGE_INVISIBLETIME
            self.asked.append((broker_id, ext))

        yield SimpleNamespace(pass_on=pass_on, call=call)

    def forget_addresses(self):
        pass

    def close(self):
        pass


class Member:
    """One member and its POPs."""

    def __init__(self, *, takes_turns=False):
        self.lane = Lane()
        self.shares, self.keeper, self.owners = Shares(self.lane, HERE), Keeper(), Owners()
        self.shares.topics_with_turns = {"orders"} if takes_turns else set()
        topic = TopicConfig(
            name="orders",
            read_queue_count=8,
            write_queue_count=8,
            attributes={"share.mode": "SHARED"},
        )
        self.incidents = ShareIncidents(lambda: 1)
        broker = SimpleNamespace(
            member_shares=self.shares,
            lease_keeper=self.keeper,
            membership=SimpleNamespace(own_id=HERE, role_id=HERE),
            topics=SimpleNamespace(find={"orders": topic}.get),
            find_topic=lambda _name: topic,
            settings=SimpleNamespace(broker_name="broker-t"),
            share_incidents=self.incidents,
            store_host=("127.0.0.1", 1),
        )
        for name in NAMES:
            self.lane.name(name)
        self.pops = SharedPops(broker)
        self.pops.links = self.owners
        self.served = 0
        self.fault = None

    def own(self, queue_ids, owner=HERE, *, has_messages=True):
        for queue_id in queue_ids:
            name = NAMES[queue_id]
            self.lane.own(name, 1, owner)
            if owner == HERE:
                self.shares.serving[name] = 1
            if has_messages:
                self.lane.with_messages.add(name)

    def pop(self, caller=None, **fields):
        known = {
            "consumerGroup": "billing",
            "topic": "orders",
            "queueId": "-1",
            "maxMsgNums": "32",
            "invisibleTime": "60000",
            "pollTime": "30000",
        }
        frame = request(RequestCode.POP_MESSAGE, opaque=7, ext=known | fields)
        (command,) = Decoder().receive(frame)
        header = decode_header(PopMessageHeader, command.ext)
        assert self.pops.takes(header)
        caller = caller or Caller()

        def serve_here():
            self.served += 1
            if self.fault is not None:
                raise self.fault
            return answer(command, remark="here")

        return caller, self.pops.serve(caller, command, header, serve_here)


def says(remark, code=ResponseCode.SUCCESS):
    return lambda command: answer(command, code=code, remark=remark)


def nothing(command):
    return answer(command, code=ResponseCode.POLLING_TIMEOUT)


@pytest.fixture
async def member():
    member = Member()
    yield member
    member.pops.close()
    await member.pops.wait_closed()


async def test_o29_own_queues_are_served_first_and_without_an_error_for_the_locked_one(member):
    member.own(range(7))
    member.own([7], owner=2)

    caller, _ = member.pop()

    assert (await caller.answer()).remark == "here"
    assert member.owners.asked == []


async def test_a_pop_reads_the_share_queues_of_its_own_group_and_topic_only(member):
    member.own([0], has_messages=False)
    member.own(range(4, 8), owner=2)
    member.owners.replies = {2: says("from 2")}
    member.lane.name(ShareName("others", 0, "billing"))
    found, read = member.shares.seen, []

    def seen_of(pairs):
        read.append(set(pairs))
        return {name: one for name, one in found().items() if name.topic == "orders"}

    member.shares.seen_of, member.shares.seen = seen_of, None

    assert (await member.pop()[0].answer()).remark == "from 2"
    assert read == [{("orders", "billing")}]


async def test_the_queues_of_other_members_are_asked_for_in_turn_o29(member):
    member.own([0], has_messages=False)
    member.own(range(1, 4), owner=1)
    member.own(range(4, 8), owner=2)
    member.owners.replies = {1: says("from 1"), 2: says("from 2")}

    remarks = [(await member.pop()[0].answer()).remark for _ in range(6)]

    assert sorted(remarks) == ["from 1"] * 3 + ["from 2"] * 3
    assert remarks[0] != remarks[1]


async def test_an_owner_whose_queues_are_empty_is_not_asked_while_others_have_messages_o29(member):
    member.own(range(4), owner=1, has_messages=False)
    member.own(range(4, 8), owner=2)
    member.owners.replies = {1: nothing, 2: says("from 2")}

    remarks = [(await member.pop()[0].answer()).remark for _ in range(3)]

    assert remarks == ["from 2"] * 3
    assert {broker_id for broker_id, _ in member.owners.asked} == {2}


async def test_forwarding_registers_no_interest_unless_the_topic_is_time_shared():
    for takes_turns, wanted in ((False, set()), (True, set(NAMES))):
        member = Member(takes_turns=takes_turns)
        member.own(range(8), owner=1)
        member.owners.replies = {1: says("from 1")}

        assert (await member.pop()[0].answer()).remark == "from 1"

        assert member.keeper.wanted == wanted


async def test_o16_without_an_owner_interest_is_registered_and_the_pop_waits_for_the_grant(member):
    caller, _ = member.pop()
    await settle()
    assert member.keeper.wanted == set(NAMES)

    member.own(range(8))

    assert (await caller.answer()).remark == "here"


async def test_a_pop_for_a_share_queue_without_a_name_goes_to_the_master_that_names_it(member):
    member.lane.epochs.clear()
    member.lane.owners.clear()
    member.owners.replies = {0: says("from the master")}

    assert (await member.pop()[0].answer()).remark == "from the master"
    assert member.keeper.wanted == set()


@pytest.mark.parametrize("takes_turns", [False, True])
async def test_a_share_queue_without_a_name_is_not_wanted_while_the_master_does_not_answer(
    takes_turns,
):
    # A lease of it could not be used, and would pass for one that another member has fenced.
    member = Member(takes_turns=takes_turns)
    member.lane.epochs.clear()
    member.lane.owners.clear()

    caller, _ = member.pop(pollTime="300")

    assert (await caller.answer()).code == ResponseCode.POLLING_TIMEOUT
    assert member.keeper.wanted == set()


async def test_a_share_queue_is_wanted_while_this_member_waits_for_the_lane_of_the_next_master(
    member,
):
    member.lane.epochs.clear()
    member.lane.owners.clear()
    member.shares.reads_lane = False

    await member.pop(pollTime="300")[0].answer()

    assert member.keeper.wanted == set(NAMES)


async def test_an_owner_that_gives_no_answer_is_replaced_by_interest(member):
    member.own(range(8), owner=2)

    caller, _ = member.pop(pollTime="300")

    assert (await caller.answer()).code == ResponseCode.POLLING_TIMEOUT
    assert member.keeper.wanted == set(NAMES)


async def test_an_owner_that_does_not_own_any_more_is_asked_again_after_a_moment(member):
    member.own(range(8), owner=2)
    refusal = says("another member", ResponseCode.NOT_LEADER_FOR_QUEUE)
    replies = iter([refusal, says("from 2")])

    def reply(command):
        return next(replies)(command)

    member.owners.replies = {2: reply}

    assert (await member.pop()[0].answer()).remark == "from 2"


async def test_the_fields_of_a_forwarded_pop_mark_it_and_bound_its_wait(member):
    member.own(range(8), owner=1)
    member.owners.replies = {1: says("from 1")}

    await member.pop(bornTime="1")[0].answer()

    ((_, fields),) = member.owners.asked
    assert (fields["shareFwd"], fields["pollTime"], fields["bornTime"]) == ("1", "1000", "0")


async def test_o28_a_forwarded_pop_names_the_owner_and_goes_no_further(member):
    member.own(range(8), owner=2)

    with pytest.raises(Refusal) as caught:
        member.pop(shareFwd="1")

    assert caught.value.code == ResponseCode.NOT_LEADER_FOR_QUEUE
    assert caught.value.ext == {"ownerHint": "broker-t@2"}
    assert member.keeper.wanted == set()


async def test_a_forwarded_pop_is_served_from_the_queues_that_are_owned_here(member):
    member.own([0])
    member.own(range(1, 8), owner=2)

    _, reply = member.pop(shareFwd="1")

    assert Decoder().receive(reply)[0].remark == "here"


async def test_o25_without_an_arbiter_a_pop_without_an_owner_goes_to_the_sequencer(member):
    member.keeper.is_silent = True
    member.owners.replies = {0: says("from the sequencer")}

    assert (await member.pop()[0].answer()).remark == "from the sequencer"


async def test_the_sequencer_takes_what_is_forwarded_to_it_while_no_arbiter_answers_o25(member):
    member.keeper.is_silent = True

    with pytest.raises(Refusal):
        member.pop(shareFwd="1")

    assert member.keeper.wanted == set(NAMES)


async def test_a_refusal_of_the_owner_is_passed_on(member):
    member.own(range(8), owner=1)
    member.owners.replies = {1: says("forbidden", ResponseCode.NO_PERMISSION)}

    found = await member.pop()[0].answer()

    assert (found.code, found.remark) == (ResponseCode.NO_PERMISSION, "forbidden")


async def test_a_pop_that_the_owner_would_not_read_is_refused_and_the_owner_is_asked_again(member):
    member.own(range(8), owner=1)

    def refuse(_command):
        raise RequestTooLarge("no other broker reads it")

    member.owners.replies = {1: refuse}
    assert (await member.pop()[0].answer()).code == ResponseCode.MESSAGE_ILLEGAL
    member.owners.replies = {1: says("from 1")}

    assert (await member.pop()[0].answer()).remark == "from 1"
    assert member.keeper.wanted == set()


async def test_a_client_that_leaves_is_asked_for_no_more(member):
    member.own(range(8), owner=1)
    caller = Caller()

    def leave(command):
        caller.is_gone = True
        return nothing(command)

    member.owners.replies = {1: leave}
    member.pop(caller)
    await asyncio.wait(member.pops._tasks)

    assert len(member.owners.asked) == 1
    assert caller.frames.empty()


async def test_q10_messages_of_a_client_that_left_are_released_whatever_its_request_contains(
    member, tmp_path
):
    # The engine forwards a POP without a look at these fields.
    fields = {"consumerGroup": "billing", "topic": "orders", "initMode": "x", "order": "maybe"}
    (command,) = Decoder().receive(request(RequestCode.POP_MESSAGE, opaque=7, ext=fields))
    store = open_store(tmp_path)
    store.append("orders", 1, b"one", b"")
    body = store.read("orders", 1, 0).body
    store.close()
    delivery = {"popTime": "5", "invisibleTime": "60000", "reviveQid": "4"}
    (reply,) = Decoder().receive(answer(command, ext=delivery, body=body))
    member.owners.replies = {2: nothing}

    member.pops.give_back(2, command, reply)
    await asyncio.wait(member.pops._tasks)

    ((owner_id, released),) = member.owners.asked
    assert owner_id == 2
    assert (released["consumerGroup"], released["topic"], released["queueId"]) == (
        "billing",
        "orders",
        "1",
    )
    assert (released["extraInfo"], released["invisibleTime"]) == ("0 5 60000 4 0 broker-t 1 0", "0")


async def test_o50_with_too_many_pops_that_wait_the_answer_is_polling_full(member):
    for _ in range(WAITING_COUNT_MAX):
        member.pop()

    with pytest.raises(Refusal) as caught:
        member.pop()

    assert caught.value.code == ResponseCode.POLLING_FULL


@pytest.mark.parametrize("fields", [{"queueId": "8"}, {"queueId": "-2"}, {"consumerGroup": "a b"}])
async def test_a_name_that_would_spoil_the_heartbeat_is_refused(member, fields):
    with pytest.raises(Refusal) as caught:
        member.pop(**fields)

    assert caught.value.code == ResponseCode.INVALID_PARAMETER
    assert member.keeper.wanted == set()


async def test_a_broker_that_stops_answers_the_pops_that_wait(member):
    caller, _ = member.pop()

    member.pops.close()

    assert (await caller.answer()).code == ResponseCode.POLLING_TIMEOUT
    with pytest.raises(Refusal):
        member.pop()


async def test_a_pop_that_waits_ends_once_the_topic_is_in_primary_mode(member):
    # Its share queues have no owner then, and no record of one comes: the master is asked next.
    member.own(range(4), owner=2)
    member.own(range(4, 8), owner=1)
    member.owners.replies = {1: nothing, 2: nothing}
    caller, _ = member.pop()
    await settle()

    member.shares.shared_topics.clear()

    async with asyncio.timeout(15):
        assert (await caller.answer()).code == ResponseCode.POLLING_TIMEOUT


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (OSError("no space left on device"), ResponseCode.SERVICE_NOT_AVAILABLE),
        (ValueError("unexpected"), ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_a_pop_that_waits_is_answered_if_this_member_fails_to_serve_it(member, fault, code):
    member.fault = fault
    caller, _ = member.pop()
    await settle()

    member.own(range(8))

    assert (await caller.answer()).code == code


@pytest.mark.parametrize("code", [ResponseCode.POLLING_FULL, ResponseCode.POLLING_TIMEOUT])
async def test_an_owner_that_does_not_let_a_pop_wait_is_asked_again_after_a_pause(member, code):
    member.own(range(8), owner=1)
    member.owners.replies = {1: lambda command: answer(command, code=code)}

    caller, _ = member.pop(pollTime="500")

    assert (await caller.answer()).code == ResponseCode.POLLING_TIMEOUT
    # A pause of 50 ms after each: more would burden an owner that has too much already.
    assert 1 < len(member.owners.asked) <= 12
