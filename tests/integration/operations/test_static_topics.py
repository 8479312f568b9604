"""Static topics on real agents: created, expanded, moved, taken back, deleted, and never torn."""

import asyncio
from collections import Counter
from types import SimpleNamespace

import msgspec
import pytest
from sqlalchemy import insert, text
from structlog.testing import capture_logs

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.db import clusters, logical_queues
from backend.db.tables import topics
from backend.domain.logical_queue.change import ChangeState
from backend.domain.logical_queue.errors import QueueChangeRefused, StaticTopicNotFound
from backend.domain.logical_queue.expiry import Overlap
from backend.domain.operation import OperationState as S
from backend.domain.operation import StepState
from backend.domain.operation_errors import InvalidParameters, NotUndoable, PlanBlocked
from backend.domain.plan import CheckVerdict
from backend.operations.engine import following, orders
from backend.operations.planning import static_topics as planning
from backend.remoting.bodies.logical_queues import NewerMappings
from backend.remoting.request_code import RequestCode
from backend.services.logical_queue.consistency import check_consistency
from backend.services.logical_queue.convergence import ConvergeOutcome, converge
from backend.services.logical_queue.copies import TopicHolders, ask_holders
from tests.integration.broker.client import Client, bodies
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.integration.operations.crashing import POINTS
from tests.long_form import chosen, stride
from tests.waiting import eventually
from workers.broker.logical import confirmation

A, B, C = "broker-a", "broker-b", "broker-c"
NOT_LEADER = 501
T = {"topic_name": "orders"}
OFFSETS = ("logical_start", "logical_end", "physical_start", "physical_end")


class Topic:
    """A static topic of the agents, and what a client, an operator and Postgres see of it."""

    def __init__(self, agents):
        self.agents = agents

    async def create(self, queue_count=4, **more):
        return await self.agents.order("create_static_topic", **T, queue_count=queue_count, **more)

    async def move(self, *queues, to=B, **more):
        return await self.agents.order(
            "move_queues", **T, destination=to, queues=list(queues), **more
        )

    async def choose(self, **way):
        return await self.agents.order("move_queues", **T, **way)

    async def begin_move(self, *queues, to=B, **more):
        planned = await self.agents.plan(
            "move_queues", **T, destination=to, queues=list(queues), **more
        )
        await self.agents.confirm(planned)
        return planned.id

    async def stored(self):
        async with self.agents.database.connect() as connection:
            return await logical_queues.find(connection, CLUSTER, "orders")

    async def mapping(self):
        return (await self.stored()).mapping

    async def shown(self, global_id=0):
        return " ".join(map(str, (await self.mapping()).queue(global_id).segments))

    async def leaders(self):
        return Counter(one.leader_name for one in (await self.mapping()).queues)

    async def check(self):
        return await check_consistency(
            CLUSTER, "orders", database=self.agents.database, brokers=self.agents.context.brokers
        )

    async def is_sound(self):
        found = await self.check()
        assert (found.findings, found.leftovers) == ((), ())
        return found.is_sound

    async def call(self, name, act):
        client = await Client.connect(self.agents.brokers[name].port)
        try:
            return await act(client)
        finally:
            await client.close()

    async def send(self, name, *texts, queue_id=0):
        """Send to a broker group; give the logical offsets, or the code of the first refusal."""
        offsets = []
        for one in texts:
            answer = await self.call(
                name, lambda client, one=one: client.send("orders", one, queue_id=queue_id)
            )
            if answer.code != 0:
                return answer.code
            offsets.append(int(answer.ext["queueOffset"]))
        return offsets

    async def read(self, name, *, queue_id=0, count):
        """Read a logical queue from its leader, from the beginning on."""
        found, offset = [], 0
        while len(found) < count:
            answer = await self.call(
                name,
                lambda client, at=offset: client.pull(
                    "orders", queueId=queue_id, queueOffset=at, suspendTimeoutMillis=0, sysFlag=4
                ),
            )
            found += bodies(answer) if answer.code == 0 else []
            offset = int(answer.ext["nextBeginOffset"])
        return found


@pytest.fixture
def topic(agents):
    return Topic(agents)


async def test_a_static_topic_is_created_evenly_and_taken_back_while_it_is_empty_l1(topic, agents):
    made = await topic.create(4)

    assert made.state is S.DONE, made.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    assert await topic.is_sound()
    assert (await topic.stored()).unfinished is None

    undone = await agents.undo(made)

    assert undone.state is S.DONE, undone.outcome
    assert await topic.stored() is None
    assert [broker.broker.topics.find("orders") for broker in agents.brokers.values()] == [None] * 2


async def test_a_name_that_is_in_use_is_refused_l2_l5(topic, agents):
    await agents.order("create_topic", topic_name="orders")
    with pytest.raises(QueueChangeRefused, match="INV-1"):
        await agents.plan("create_static_topic", **T, queue_count=4)
    assert await topic.stored() is None

    await agents.order("delete_topic", topic_name="orders")
    await topic.create(4)
    with pytest.raises(QueueChangeRefused, match="INV-1"):
        await agents.plan("create_static_topic", **T, queue_count=4)
    with pytest.raises(QueueChangeRefused, match="INV-24"):
        await agents.plan("expand_static_topic", **T, queue_count=4)
    repeated = [
        await agents.plan("expand_static_topic", **T, queue_count=5, key="once") for _ in range(2)
    ]
    assert repeated[0].id == repeated[1].id


async def test_a_name_of_another_cluster_is_refused_l5(agents):
    async with agents.database.begin() as connection:
        at = agents.world.clock.now()
        cluster_id = await clusters.find_or_add(connection, "elsewhere", at=at)
        await connection.execute(insert(topics).values(cluster_id=cluster_id, name="orders"))

    planned = await agents.plan("create_static_topic", **T, queue_count=4)

    assert planned.plan.block.why == "there is a topic of the name in cluster elsewhere"


async def test_nothing_is_created_while_a_master_does_not_answer_l3(topic, agents):
    await agents.stop(B)

    with pytest.raises(QueueChangeRefused, match="the master of broker-b does not answer"):
        await topic.create(4, broker_groups=[A])

    assert await topic.stored() is None
    assert agents.agent(A).topics.find("orders") is None


async def test_commands_of_ordinary_topics_leave_a_static_one_alone_l62(topic, agents):
    await topic.create(4)

    for kind, more in (("change_topic", {"write_queue_count": 9}), ("delete_topic", {})):
        planned = await agents.plan(kind, **T, **more)
        assert planned.plan.block.stock_code == 604
        with pytest.raises(PlanBlocked):
            await agents.confirm(planned)
    assert await topic.is_sound()


async def test_more_queues_leave_the_others_and_stay_on_the_named_groups_l6_l7(topic, agents):
    await topic.create(2, broker_groups=[A])
    before = (await topic.mapping()).queues

    grown = await agents.order("expand_static_topic", **T, queue_count=5)

    assert grown.state is S.DONE, grown.outcome
    assert await topic.leaders() == {A: 5}
    assert (await topic.mapping()).queues[:2] == before
    assert await topic.is_sound()
    with pytest.raises(NotUndoable):
        await following.undo_operation(grown.id, ANNA, agents.context)
    await agents.order("expand_static_topic", **T, queue_count=6, broker_groups=[B])
    assert await topic.leaders() == {A: 5, B: 1}


async def test_a_queue_moves_and_comes_back_without_a_gap_l11_l13(topic, agents):
    await topic.create(4)
    assert await topic.send(A, *[b"%d" % one for one in range(5)]) == [0, 1, 2, 3, 4]

    moved = await topic.move(0)

    assert moved.state is S.DONE, moved.outcome
    assert [step.name for step in moved.steps] == ["begin", "prepare-0", "switch-0", "spread"]
    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E5] [g1 broker-b:q2 L5 S0 E-]"
    assert await topic.is_sound()
    # The former leader forwards what comes by an old route.
    assert await topic.send(A, b"5") == [5]
    assert await topic.send(B, b"6") == [6]
    assert await topic.read(B, count=7) == [b"%d" % one for one in range(7)]

    undone = await agents.undo(moved)

    assert undone.state is S.DONE, undone.outcome
    assert (await agents.look(moved.id)).state is S.UNDONE
    assert await topic.shown() == (
        "[g0 broker-a:q0 L0 S0 E5] [g1 broker-b:q2 L5 S0 E2] [g2 broker-a:q2 L7 S0 E-]"
    )
    assert await topic.send(A, b"7") == [7]
    assert await topic.read(A, count=8) == [b"%d" % one for one in range(8)]
    assert await topic.is_sound()


async def test_the_plan_draws_the_segments_and_names_the_gates(topic, agents):
    await topic.create(4)
    await topic.send(A, b"0", b"1", b"2")

    planned = await agents.plan("move_queues", **T, destination=B, queues=[0, 1, 2])

    assert [one.name for one in planned.plan.checks] == [
        "something moves",
        "every master answers",
        "destinations may be written",
        f"set of {A}",
        f"set of {B}",
        f"room on {B}",
    ]
    drawn = planned.plan.facts["segments"]["after"]
    assert [
        tuple(one[key] for key in ("broker_group_name", "status", *OFFSETS))
        for one in drawn
        if one["global_id"] == 0
    ] == [(A, "read_only", "0", "3", "0", "3"), (B, "normal", "3", None, None, None)]
    # Queue 1 is on the destination already, and queue 2 is empty: its one segment goes.
    assert [(one.what, one.before, one.after) for one in planned.plan.changes] == [
        ("logical queue 0", "broker-a:q0 0-", "broker-a:q0 0-3, broker-b:q2 3-"),
        ("logical queue 2", "broker-a:q1 0-", "broker-b:q3 0-"),
    ]


async def test_a_move_to_the_leader_is_blocked(topic, agents):
    await topic.create(4)

    planned = await agents.plan("move_queues", **T, destination=A, queues=[0])

    assert planned.plan.block.name == "something moves"
    with pytest.raises(QueueChangeRefused, match="no logical queue 9"):
        await agents.plan("move_queues", **T, destination=A, queues=[9])


async def test_all_queues_leave_a_broker_group_and_come_back_l14(topic, agents):
    await topic.create(4)
    await topic.send(A, b"0", b"1")

    moved = await topic.choose(leaving=A)

    assert moved.state is S.DONE, moved.outcome
    assert await topic.leaders() == {B: 4}
    assert await topic.read(B, count=2) == [b"0", b"1"]
    undone = await agents.undo(moved)
    assert undone.state is S.DONE, undone.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    assert await topic.is_sound()


async def test_queues_are_spread_onto_a_broker_group_or_over_several_l15(topic, agents):
    await topic.create(4, broker_groups=[A])

    spread = await topic.choose(onto=B)

    assert spread.state is S.DONE, spread.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    remapped = await topic.choose(targets=[B])
    assert remapped.state is S.DONE, remapped.outcome
    assert await topic.leaders() == {B: 4}
    undone = await agents.undo(remapped)
    assert undone.state is S.DONE, undone.outcome
    assert await topic.leaders() == {A: 2, B: 2}
    assert await topic.is_sound()


async def test_a_remapping_to_the_present_groups_only_raises_the_epoch_l18(topic, agents):
    await topic.create(4)
    assert await topic.send(A, b"0") == [0]
    before = await topic.mapping()

    raised = await topic.choose(targets=[A, B])

    assert raised.state is S.DONE, raised.outcome
    assert raised.plan.summary == "No logical queue of topic orders moves"
    after = await topic.mapping()
    assert after.epoch >= before.epoch + 1_000
    assert after.queues == before.queues
    assert await topic.is_sound()
    assert await topic.send(A, b"1") == [1]
    with pytest.raises(NotUndoable):
        await following.undo_operation(raised.id, ANNA, agents.context)


async def test_queues_that_leave_find_another_destination_before_the_commit_point_l43(
    topic, agents
):
    await agents.start(C)
    await eventually(lambda: _knows(topic, C))
    await topic.create(2, broker_groups=[A])
    await topic.send(A, b"0")
    planned = await agents.plan("move_queues", **T, leaving=A)
    await agents.confirm(planned)
    # The first destination has a place for its queue, and no queue is sealed.
    assert not await agents.run(planned.id, ("after the effect", 1))
    await agents.stop(B)
    await eventually(lambda: _is_away(topic, B))

    await eventually(lambda: _ends(agents, planned.id))

    ended = await agents.look(planned.id)
    assert ended.state is S.DONE, ended.outcome
    assert await topic.leaders() == {C: 2}
    assert await topic.read(C, count=1) == [b"0"]
    await agents.start(B)
    await eventually(lambda: _is_back(topic))
    await _converge(agents)
    assert await topic.is_sound()


async def test_moves_are_chosen_in_one_way(topic, agents):
    await topic.create(2)

    with pytest.raises(InvalidParameters, match="give one of"):
        await agents.plan("move_queues", **T, leaving=A, targets=[B])


async def test_all_queues_leave_a_broker_group_that_is_gone_l46(topic, agents):
    await topic.create(4)
    await agents.stop(A)
    await eventually(lambda: _is_away(topic, A))
    assert _block(await agents.plan("move_queues", **T, leaving=A)) == "every master answers"

    moved = await topic.choose(leaving=A, force=True, force_offset=10_000)

    assert moved.state is S.DONE, moved.outcome
    assert await topic.leaders() == {B: 4}
    assert await topic.send(B, b"new", queue_id=0) == [10_000]


async def test_positions_in_an_empty_segment_come_along_l17(topic):
    await topic.create(4)
    for name in (A, B):
        await topic.call(name, lambda client: client.heartbeat("g", "orders"))
    commit = {"consumerGroup": "g", "topic": "orders", "queueId": 0, "commitOffset": 0}
    committed = await topic.call(
        A, lambda client: client.call(RequestCode.UPDATE_CONSUMER_OFFSET, commit)
    )
    assert committed.code == 0, committed.remark

    moved = await topic.move(0)

    assert moved.state is S.DONE, moved.outcome
    assert await topic.shown() == "[g1 broker-b:q2 L0 S0 E-]"
    wanted = {"consumerGroup": "g", "topic": "orders", "queueId": 0, "setZeroIfNotFound": "false"}
    found = await topic.call(
        B, lambda client: client.call(RequestCode.QUERY_CONSUMER_OFFSET, wanted)
    )
    assert (found.code, found.ext.get("offset")) == (0, "0")


async def test_a_group_that_does_not_know_the_topic_takes_a_queue_l15(topic, agents):
    await topic.create(2, broker_groups=[A])
    await agents.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "orders"}, name=B)

    moved = await topic.move(1)

    assert moved.state is S.DONE, moved.outcome
    assert await topic.leaders() == {A: 1, B: 1}
    assert await topic.is_sound()


async def test_name_servers_hear_of_no_conflict_while_queues_move_one_after_another(topic):
    """INV-15: the source holds the epoch of the change already when its second queue moves."""
    await topic.create(8)

    with capture_logs() as logs:
        moved = await topic.move(0, 2, 4, in_flight_max=1)

    assert moved.state is S.DONE, moved.outcome
    assert [one for one in logs if one["event"] == "registration_items_left_out"] == []


async def test_one_queue_at_a_time_is_sealed(topic, agents, monkeypatch):
    """R15, INV-27: no queue waits for the transactions and lists of others."""
    await topic.create(8)
    request, sealed, under_way = agents.client.request, [], []
    sealed_count_max = overlap_count = 0

    async def watched(to, code, *, ext=None, body=b"", **more):
        nonlocal sealed_count_max, overlap_count
        if code == RequestCode.SEAL_LOGICAL_QUEUE:
            sealed.append(ext["globalId"])
            sealed_count_max = max(sealed_count_max, len(sealed))
        if code != RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC:
            return await request(to, code, ext=ext, body=body, **more)
        overlap_count += to in under_way
        under_way.append(to)
        try:
            return await request(to, code, ext=ext, body=body, **more)
        finally:
            under_way.remove(to)
            led = msgspec.json.decode(body)["currIdMap"]
            if to == f"127.0.0.1:{agents.brokers[B].port}":
                sealed[:] = [one for one in sealed if one not in led]

    monkeypatch.setattr(agents.client, "request", watched)
    operation_id = await topic.begin_move(0, 2, 4, 6)

    await eventually(lambda: _ends(agents, operation_id))

    moved = await agents.look(operation_id)
    assert moved.state is S.DONE, moved.outcome
    assert (sealed, sealed_count_max, overlap_count) == ([], 1, 0)
    assert await topic.leaders() == {B: 8}
    assert await topic.is_sound()


async def test_a_move_is_paused_between_two_queues_and_goes_on(topic, agents):
    await topic.create(8)
    operation_id = await topic.begin_move(0, 2, 4, in_flight_max=1)
    assert not await agents.run(operation_id, ("after the effect", 4))
    moved = [one.state for one in (await agents.look(operation_id)).steps]
    assert StepState.RUNNING in moved

    await orders.pause_operation(operation_id, ANNA, agents.context)
    paused = await agents.end(operation_id)

    assert paused.state is S.PAUSED
    found = await topic.stored()
    assert found.unfinished.change.state is ChangeState.MOVING
    # No queue is sealed between two steps: each of them has a leader.
    for queue in found.mapping.queues:
        sent = await topic.send(queue.leader_name, b"x", queue_id=queue.global_id)
        assert sent == [0], queue
    await orders.resume_operation(operation_id, ANNA, agents.context)
    assert (await agents.end(operation_id)).state is S.DONE
    assert await topic.leaders() == {A: 1, B: 7}


async def test_a_producer_loses_nothing_while_its_queue_moves_l20(topic, agents):
    await topic.create(2)
    is_over = asyncio.Event()
    producer = asyncio.create_task(_produce(agents, is_over))

    for target in (B, A, B):
        moved = await topic.move(0, to=target)
        assert moved.state is S.DONE, moved.outcome
    is_over.set()
    stored = await producer

    assert [offset for offset, _ in stored] == list(range(len(stored)))
    assert len(stored) > 10
    assert await topic.read(B, count=len(stored)) == [body for _, body in stored]
    assert await topic.is_sound()


@pytest.mark.parametrize(
    ("alive", "is_lost", "verdict"),
    [
        ({1, 2}, False, CheckVerdict.PASS),
        ({1}, False, CheckVerdict.WARN),
        ({2}, False, CheckVerdict.BLOCK),
        ({1, 2}, True, CheckVerdict.BLOCK),
    ],
)
async def test_the_set_of_a_broker_group_is_a_gate(
    topic, agents, monkeypatch, alive, is_lost, verdict
):
    await topic.create(4)
    group = SimpleNamespace(
        is_master_lost=is_lost,
        master_id=1,
        sync_state_set=SimpleNamespace(members={1, 2}),
        replicas={1: None, 2: None},
    )
    view = SimpleNamespace(group=group, liveness=SimpleNamespace(alive_ids=alive))

    async def find_group(name, _controller):
        return view if name.broker_group_name == B else None

    monkeypatch.setattr(planning, "find_group", find_group)
    planned = await agents.plan("move_queues", **T, destination=B, queues=[0])

    [check] = [one for one in planned.plan.checks if one.name == f"set of {B}"]
    assert check.verdict is verdict


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [("0.20", CheckVerdict.PASS), ("0.80", CheckVerdict.WARN), ("0.93", CheckVerdict.BLOCK)],
)
async def test_the_room_of_a_destination_is_a_gate(agents, monkeypatch, ratio, verdict):
    async def find(_brokers, _address, _inquiry):
        return {planning.DISK_RATIO: ratio}

    monkeypatch.setattr(Brokers, "find", find)
    holders = TopicHolders({}, {B: "10.0.0.1:1"}, {}, {})

    assert (await planning.check_room(holders, B, agents.context)).verdict is verdict
    unknown = await planning.check_room(TopicHolders({}, {}, {}, {}), B, agents.context)
    assert unknown.verdict is CheckVerdict.WARN


async def test_a_second_change_is_refused_until_the_first_ends_l55(topic, agents):
    await topic.create(4)
    operation_id = await topic.begin_move(0)
    other = await topic.begin_move(2)
    assert not await agents.run(operation_id, ("after the effect", 0))

    with pytest.raises(QueueChangeRefused, match="not finished"):
        await agents.plan("move_queues", **T, destination=B, queues=[2])
    refused = await agents.end(other)

    assert (refused.state, "not finished" in refused.outcome) == (S.FAILED, True)
    assert (await agents.end(operation_id)).state is S.DONE
    assert await topic.is_sound()


@pytest.mark.parametrize("name", chosen(POINTS, "after the effect", "commit"))
async def test_a_worker_that_dies_anywhere_in_a_move_loses_nothing_l42(topic, agents, name):
    await topic.create(2)
    homes, expected = (A, B), []
    number, lives = 0, False
    step = 1 if "effect" in name else stride(4)
    while not lives:
        source, target = homes[number % 2], homes[1 - number % 2]
        expected.append(b"%d" % number)
        assert await topic.send(source, expected[-1]) == [number]

        operation_id = await topic.begin_move(0, to=target)
        lives = await agents.run(operation_id, (name, step * number))
        ended = await agents.end(operation_id) if not lives else await agents.look(operation_id)

        assert ended.state is S.DONE, (number, ended.outcome)
        assert await topic.is_sound()
        number += 1

    assert number > 3
    assert await topic.read(homes[number % 2], count=number) == expected


async def test_a_lost_answer_of_a_broker_repeats_the_request_l42(topic, agents, monkeypatch):
    await topic.create(2)
    await topic.send(A, b"0")
    request, lost = agents.client.request, set()

    async def lose_once(address, code, **more):
        answer = await request(address, code, **more)
        if code in _CHANGING and code not in lost:
            lost.add(code)
            raise BrokerUnreachable(address, "the answer was lost")
        return answer

    monkeypatch.setattr(agents.client, "request", lose_once)
    operation_id = await topic.begin_move(0)
    await eventually(lambda: _ends(agents, operation_id))

    assert (await agents.look(operation_id)).state is S.DONE
    assert lost == _CHANGING
    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E1] [g1 broker-b:q1 L1 S0 E-]"
    assert await topic.is_sound()


async def test_a_move_that_can_not_seal_is_rolled_back_l45(topic, agents, monkeypatch):
    await topic.create(4)
    assert await topic.send(A, b"0") == [0]
    request = agents.client.request

    async def lose_seals(address, code, **more):
        answer = await request(address, code, **more)
        if code == RequestCode.SEAL_LOGICAL_QUEUE:
            raise BrokerUnreachable(address, "the answer was lost")
        return answer

    with monkeypatch.context() as broken:
        broken.setattr(agents.client, "request", lose_seals)
        operation_id = await topic.begin_move(0)
        await eventually(lambda: _ends(agents, operation_id))
    assert (await agents.look(operation_id)).state is S.UNKNOWN
    assert await topic.send(A, b"1") == NOT_LEADER

    undone = await agents.undo(await agents.look(operation_id))

    assert undone.state is S.DONE, undone.outcome
    assert await topic.send(A, b"1") == [1]
    assert await topic.is_sound()
    assert (await topic.stored()).unfinished is None
    assert (await topic.move(0)).state is S.DONE
    assert await topic.send(B, b"2") == [2]
    assert await topic.read(B, count=3) == [b"0", b"1", b"2"]


async def test_a_creation_waits_for_a_broker_that_fails_in_between_l4(topic, agents):
    planned = await agents.plan("create_static_topic", **T, queue_count=4)
    await agents.confirm(planned)
    assert not await agents.run(planned.id, ("before the effect", 0))
    await agents.stop(B)
    await eventually(lambda: _is_away(topic, B))

    waiting = await agents.end(planned.id)

    assert (waiting.state, waiting.next_step.state) == (S.QUEUED, StepState.WAITING)
    assert waiting.next_step.error == "no master is online of broker-b"
    await agents.start(B)
    await eventually(lambda: _is_back(topic))
    assert (await agents.end(planned.id)).state is S.DONE
    assert await topic.is_sound()


async def test_a_destination_that_dies_before_the_commit_point_is_given_up_l43(topic, agents):
    await topic.create(4)
    operation_id = await topic.begin_move(0)
    assert not await agents.run(operation_id, ("after the effect", 0))
    await agents.stop(B)
    await eventually(lambda: _is_away(topic, B))
    await eventually(lambda: _ends(agents, operation_id))
    assert (await agents.look(operation_id)).state is S.UNKNOWN
    assert await topic.send(A, b"0") == [0]

    undone = await agents.undo(await agents.look(operation_id))

    assert undone.state is S.DONE, undone.outcome
    assert await topic.send(A, b"1") == [1]
    await agents.start(B)
    await eventually(lambda: _agrees(topic))
    assert await _converge(agents) == ConvergeOutcome()
    assert await topic.is_sound()


async def test_a_committed_move_is_not_rolled_back(topic, agents):
    await topic.create(8)
    operation_id = await topic.begin_move(0, 2, in_flight_max=1)
    assert not await agents.run(operation_id, ("after the effect", 3))
    await orders.cancel_operation(operation_id, ANNA, agents.context)
    cancelled = await agents.end(operation_id)
    assert cancelled.state is S.PARTLY

    with pytest.raises(QueueChangeRefused, match="retry"):
        await following.undo_operation(operation_id, ANNA, agents.context)

    await orders.retry_operation(operation_id, ANNA, agents.context)
    assert (await agents.end(operation_id)).state is S.DONE


async def test_a_forced_move_goes_on_after_a_jump_while_the_source_is_gone_l46(topic, agents):
    await topic.create(4)
    await topic.send(A, b"0", b"1")
    assert _block(await _plan_forced(agents)) == "the sources are gone"

    await _move_without_source(topic, agents, force_offset=10_000)

    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E-] [g1 broker-b:q2 L10000 S0 E-]"
    assert await topic.send(B, b"new") == [10_000]
    found = await topic.check()
    assert (found.findings, list(found.silent)) == ((), [A])
    assert (await topic.mapping()).forced == {(0, 0)}


async def test_a_returned_source_gets_the_mapping_and_its_end_is_recorded_l46_l50(topic, agents):
    await topic.create(4)
    await topic.send(A, b"0", b"1")
    await _move_without_source(topic, agents, force_offset=10_000)
    await topic.send(B, b"new")

    await agents.start(A)
    # The source asks for the mapping before its queues take messages.
    await eventually(lambda: _agrees(topic))
    outcomes = [await _converge(agents) for _ in range(2)]

    # The recorded end goes to both, then nothing is left to do.
    assert outcomes == [ConvergeOutcome(2, 1, 0), ConvergeOutcome()]
    assert await topic.shown() == "[g0 broker-a:q0 L0 S0 E2] [g1 broker-b:q2 L10000 S0 E-]"
    assert await topic.is_sound()
    assert await topic.send(A, b"late") == [10_001]
    assert await topic.read(B, count=4) == [b"0", b"1", b"new", b"late"]


async def test_messages_of_a_returned_source_beyond_the_jump_are_named_l46(
    topic, agents, monkeypatch
):
    # As with a name server of RocketMQ, which has no mappings to give.
    monkeypatch.setattr(confirmation.Confirmation, "_ask", _no_mappings)
    await topic.create(4)
    await topic.send(A, b"0", b"1", b"2")
    await _move_without_source(topic, agents, force_offset=1)

    await agents.start(A)
    await eventually(lambda: _is_back(topic))
    behind = [str(one) for one in (await topic.check()).findings if one.invariant == "INV-6"]
    assert behind[0].startswith("INV-6: broker group broker-a: ")
    converged = await _converge(agents)

    assert converged == ConvergeOutcome(1, 0, 0)
    found = await topic.check()
    assert (found.findings, found.overlaps) == ((), (Overlap(0, 0, 1, 3),))
    assert not found.is_sound


async def test_a_topic_with_messages_is_deleted_by_a_purge_only(topic, agents):
    await topic.create(4)
    await topic.send(A, b"0")
    planned = await agents.plan("delete_static_topic", **T)
    assert planned.plan.block.name == "it is empty"

    deleted = await agents.order("delete_static_topic", **T, purge=True)

    assert deleted.state is S.DONE, deleted.outcome
    assert deleted.plan.loss == "1 message"
    assert await topic.stored() is None
    with pytest.raises(StaticTopicNotFound):
        await agents.plan("delete_static_topic", **T)
    assert (await agents.order("create_topic", topic_name="orders")).state is S.DONE


async def test_each_difference_between_postgres_and_brokers_is_named_l9(topic, agents):
    await topic.create(4)
    async with agents.database.begin() as connection:
        await connection.execute(text("UPDATE static_topics SET epoch = epoch + 5"))
        await connection.execute(text("DELETE FROM logical_queue_segments WHERE global_id = 3"))

    found = await topic.check()

    named = [str(one) for one in found.findings]
    assert any(one.startswith("INV-6: the control plane") for one in named), named
    assert any(one.startswith("INV-7: the control plane") for one in named), named
    assert not found.is_sound


_CHANGING = {
    RequestCode.PREPARE_LOGICAL_QUEUE,
    RequestCode.SEAL_LOGICAL_QUEUE,
    RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
}


async def _produce(agents, is_over):
    """Send to logical queue 0, and go to the other broker group when one refuses."""
    clients = [await Client.connect(agents.brokers[name].port) for name in (A, B)]
    stored, at = [], 0
    while not is_over.is_set():
        body = b"%d" % len(stored)
        answer = await clients[at].send("orders", body, queue_id=0)
        if answer.code == NOT_LEADER:
            at = 1 - at
        else:
            assert answer.code == 0, answer.remark
            stored.append((int(answer.ext["queueOffset"]), body))
    for client in clients:
        await client.close()
    return stored


async def _ends(agents, operation_id):
    await agents.run(operation_id)
    state = (await agents.look(operation_id)).state
    return state not in {S.QUEUED, S.RUNNING}


async def _is_away(topic, name):
    return name in (await topic.check()).silent


async def _knows(topic, name):
    holders = await ask_holders(
        CLUSTER,
        None,
        database=topic.agents.database,
        brokers=topic.agents.context.brokers,
    )
    return name in holders.groups.answering


async def _is_back(topic):
    return not (await topic.check()).silent


async def _agrees(topic):
    found = await topic.check()
    return not found.silent and not found.leftovers and not found.findings


async def _no_mappings(_confirmation):
    return NewerMappings()


async def _converge(agents):
    return await converge(
        database=agents.database, brokers=agents.context.brokers, clock=agents.world.clock
    )


async def _move_without_source(topic, agents, *, force_offset):
    """Move queue 0 while its broker group is away: only a given offset makes that possible."""
    await agents.stop(A)
    await eventually(lambda: _is_away(topic, A))
    assert _block(await _plan_forced(agents)) == "last known offsets"
    moved = await topic.move(0, force=True, force_offset=force_offset)
    assert moved.state is S.DONE, moved.outcome


async def _plan_forced(agents):
    return await agents.plan("move_queues", **T, destination=B, queues=[0], force=True)


def _block(planned):
    return planned.plan.block.name
