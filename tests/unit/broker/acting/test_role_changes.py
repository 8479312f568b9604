"""Changes of the role of a replica that come at the same time, or after its end."""

import asyncio
import contextlib
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from tests.waiting import eventually
from workers.broker.acting import fixed_replica
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.least_id import Least
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.tables.consumer_offsets import ConsumerOffsets

FIRST, SECOND = "10.0.0.1:10911", "10.0.0.2:10911"


class Follower:
    """A copy of a master's log that needs a moment to end."""

    hears_master = is_controlled = False

    def __init__(self, *_, master_address, **__):
        self.master_address = master_address

    async def run(self):
        self.running.append(self.master_address)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.running.remove(self.master_address)


@pytest.fixture
async def replica(monkeypatch, tmp_path):
    monkeypatch.setattr(fixed_replica, "PlainFollower", Follower)
    monkeypatch.setattr(Follower, "running", [], raising=False)
    broker = MagicMock(damage=None)
    broker.settings = SimpleNamespace(
        config_dir=tmp_path, broker_id=2, passes_on=True, acts_as_master=True, escapes=False
    )
    broker.offsets = ConsumerOffsets()
    broker.shares.finished.kept = {}
    replica = FixedReplica(broker)
    await replica.follow(FIRST)
    await eventually(lambda: Follower.running == [FIRST])
    yield replica
    await replica.stop()


async def test_two_changes_to_one_master_begin_one_copy_of_its_log(replica):
    """The rounds before a replica is online, and the news of its master, name the same one."""
    await asyncio.gather(replica.follow(SECOND), replica.follow(SECOND))

    await eventually(lambda: Follower.running)
    await asyncio.sleep(0)
    assert Follower.running == [SECOND]


async def test_a_replica_that_is_stopped_follows_no_master_any_more(replica):
    await replica.stop()

    await replica.follow(SECOND)
    await replica.begin(Least(0, SECOND))
    await asyncio.sleep(0)

    assert Follower.running == []
    assert replica.follower is None


def takes(replica):
    with contextlib.suppress(Refusal):
        replica.check(RequiredRole.MASTER_TAKES)
        return True
    return False


def commit(replica, offset):
    offsets = replica._broker.offsets
    offsets.commit("g", "orders", queue_id=0, offset=offset)
    return offsets.find("g", "orders", 0)


async def test_a_replica_that_acts_takes_no_commit_that_its_returning_master_lacks(replica):
    # S113, I9, I11
    await replica.begin(Least(2, "own", FIRST))
    assert takes(replica)
    assert commit(replica, 7) == 7

    replica.give_way()

    assert not takes(replica)
    assert commit(replica, 8) == 7
    await replica.begin(Least(0, FIRST))
    assert not takes(replica)
    assert not replica.is_acting


async def test_a_replica_that_copies_from_its_master_does_not_begin_beside_it(replica):
    """Only the name servers do not reach it, so it does not hear that its master serves."""
    shares = replica._broker.shares
    await replica.begin(Least(2, "own", FIRST))
    await replica.take_master(HaInfoHeader(master_address=FIRST))
    begun_count = shares.stand_in.call_count
    replica.follower = Follower(master_address=FIRST)
    replica.follower.hears_master = True

    replica._pops_held_until_s -= 2 * fixed_replica.PAUSE_S
    replica.tick()
    assert shares.stand_in.call_count == begun_count
    replica.follower = None
    replica._pops_held_until_s -= 2 * fixed_replica.PAUSE_S
    replica.tick()

    assert shares.stand_in.call_count == begun_count + 1


async def test_a_replica_that_stops_takes_nothing_until_others_have_its_state(
    monkeypatch, replica
):  # I9, I11
    monkeypatch.setattr(fixed_replica, "GIVEN_WAY_S_MAX", -1)
    replica.members = {1: SECOND, 2: "own", 3: "10.0.0.3:10911"}
    await replica.begin(Least(2, "own", FIRST))
    assert commit(replica, 7) == 7

    assert await replica.give_up() == 2
    replica.give_way()
    replica.tick()

    assert not takes(replica)
    assert commit(replica, 8) == 7


async def test_a_replica_acts_on_if_its_master_does_not_return_after_all(monkeypatch, replica):
    monkeypatch.setattr(fixed_replica, "GIVEN_WAY_S_MAX", 0.01)
    await replica.begin(Least(2, "own", FIRST))
    replica.give_way()

    def is_over():
        replica.tick()
        return takes(replica)

    await eventually(is_over)
    assert commit(replica, 9) == 9


async def test_a_successor_that_asks_again_and_again_stops_no_consumer(monkeypatch, replica):
    """A disk that fails at a returning master ends each of its rounds after the question."""
    monkeypatch.setattr(fixed_replica, "GIVEN_WAY_S_MAX", 0.01)
    await replica.begin(Least(2, "own", FIRST))

    def is_over():
        replica.give_way()
        replica.tick()
        return takes(replica)

    await eventually(is_over)
    replica.give_way()
    assert takes(replica)


async def test_a_replica_that_gives_way_answers_no_question_for_offsets(replica):
    """I9: its successor may have taken commits already."""
    replica._broker.settings.passes_on = False
    replica.is_online = True
    await replica.begin(Least(2, "own", FIRST))
    question = SimpleNamespace(code=14, ext={})
    assert replica.pass_on(question) is None

    replica.give_way()

    with pytest.raises(Refusal, match="about to serve"):
        replica.pass_on(question)


async def test_a_replica_asks_the_one_that_acts_until_its_master_serves(replica):
    """A master that returns announces itself long before it is online (S113)."""
    acting = "10.0.0.3:10911"
    await replica.begin(Least(1, acting, FIRST))
    assert replica.passing._link.address == acting

    await replica.follow(FIRST)
    assert replica.passing._link.address == acting

    await replica.begin(Least(0, FIRST))
    assert replica.passing._link.address == FIRST


async def test_a_replica_that_does_not_act_gives_no_way(replica):
    replica.give_way()
    await replica.begin(Least(2, "own", FIRST))

    assert takes(replica)


async def test_another_replica_that_acts_is_asked_for_what_the_group_committed(replica):  # I9
    query = SimpleNamespace(ext={})
    await replica.begin(Least(2, "own", FIRST))
    assert replica.pass_on(query) is None

    await replica.begin(Least(0, SECOND, None))
    await replica.begin(Least(1, FIRST, SECOND))

    passed = replica.pass_on(query)
    assert passed is not None
    passed.close()


async def test_an_answer_from_before_a_notice_does_not_end_acting(replica):  # S106
    """A name server may answer a poll just before it notices that the master is gone."""
    await replica.begin(Least(0, FIRST))
    running = asyncio.create_task(replica.run())
    notice_count = replica.notice_count
    sent = LeastIdHeader(min_broker_id=2, min_broker_addr="own", offline_broker_addr=FIRST)

    replica.take_least(sent)
    replica.note_polled(Least(0, FIRST), notice_count=notice_count)

    await eventually(lambda: replica.is_acting)
    await asyncio.sleep(0.05)
    assert replica.is_acting
    replica.note_polled(Least(0, FIRST), notice_count=replica.notice_count)
    await eventually(lambda: not replica.is_acting)
    running.cancel()


async def test_no_message_is_handed_out_once_the_master_announces_itself(monkeypatch, replica):
    """S130: the master hands out the same messages soon, and does not know who has them."""
    monkeypatch.setattr(fixed_replica, "PAUSE_S", 0.01)
    shares = replica._broker.shares
    await replica.take_master(HaInfoHeader(master_address=FIRST))
    shares.hold.assert_not_called()
    await replica.begin(Least(2, "own", FIRST))
    assert shares.stand_in.call_count == 1

    await replica.take_master(HaInfoHeader(master_address=FIRST))

    shares.hold.assert_called_once()

    def begins_again():
        replica.tick()
        return shares.stand_in.call_count == 2

    await eventually(begins_again)
    await replica.begin(Least(0, FIRST))
    shares.stand_down.assert_called_once()


async def test_a_question_waits_until_a_replica_has_all_of_the_log_and_acts(replica):
    """I9: until the copy has ended, the tables may lack the last commits of the master."""
    question = SimpleNamespace(code=14, ext={})
    changing = asyncio.create_task(replica.begin(Least(2, "own", FIRST)))
    await asyncio.sleep(0)
    assert replica.follower is None
    assert not replica.is_acting

    answered_here = replica.pass_on(question)

    assert answered_here is not None
    assert await answered_here is None
    assert replica.is_acting
    await changing
