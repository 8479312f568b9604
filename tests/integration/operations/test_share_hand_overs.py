"""Operators hand share queues over to a member of the broker group (queue-ownership.md 4.7)."""

from types import SimpleNamespace

import pytest

from backend.domain.election import ReplicaReport
from backend.domain.errors import BrokerGroupNotControlled
from backend.domain.operation import Author, Confirmation
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import InvalidParameters, ShareLeasesNotFound
from backend.domain.plan import CheckVerdict
from backend.domain.share_lease import HeldLease, LeaseHeartbeat, Member, Wish
from backend.domain.share_queue import ShareQueueName
from backend.operations.actions.share_leases import HandOverLeases
from backend.operations.engine import following, orders
from backend.operations.engine.engine import run_operation
from backend.operations.engine.kind import OperationContext, OperationRequest
from backend.operations.kinds import drain_broker
from backend.services.controller.group_changes import BrokerGroupName, find_group
from backend.services.share_queue.leases import arbitrate_leases
from tests.integration.operations.crashing import World
from tests.integration.services.controller_driver import ControllerDriver

ANNA = Author("anna", "test")
ORDERS, TURNS = (ShareQueueName("orders", queue_id, "billing") for queue_id in (0, 1))


class Shared:
    """A broker group of three members with leases, and the operations on them."""

    def __init__(self, database):
        self.database = database
        self.driver, self.world = ControllerDriver(database), World(database)
        self.context = OperationContext(
            database, self.world.clock, self.world.queue, self.driver.controller
        )

    async def begin(self):
        await self.driver.make_f3()
        self.driver.heartbeat_source.heard = {i: ReplicaReport(0, 60_000) for i in (1, 2, 3)}

    async def beat(self, broker_id, *, held=None, wanted=(), released=None):
        heartbeat = LeaseHeartbeat(
            Member(broker_id, 1),
            {name: HeldLease(epoch, has_messages=True) for name, epoch in (held or {}).items()},
            {name: Wish(0, has_messages=True) for name in wanted},
            released or {},
        )
        return await arbitrate_leases(heartbeat, "c", "g", database=self.database)

    async def plan(self, **parameters):
        known = {"cluster_name": "c", "broker_group_name": "g"}
        request = OperationRequest("hand_over_share_queues", known | parameters)
        return await orders.plan_operation(request, ANNA, self.context)

    async def confirm(self, planned):
        await orders.confirm_operation(planned.id, Confirmation("g", "why"), ANNA, self.context)
        return await self.run(planned.id)

    async def run(self, operation_id):
        await run_operation(operation_id, self.context)
        return await orders.describe_operation(operation_id, self.context)


@pytest.fixture
async def shared(database):
    made = Shared(database)
    await made.begin()
    return made


async def test_o30_all_share_queues_of_a_member_go_to_the_master_and_back_by_an_undo(shared):
    await shared.beat(2, wanted=[ORDERS, TURNS])
    planned = await shared.plan(owner_id=2)
    assert planned.plan.summary == "2 share queues of g go to broker 1"
    assert [one.before for one in planned.plan.changes] == ["broker 2"] * 2

    waiting = await shared.confirm(planned)

    assert waiting.state not in {S.DONE, S.FAILED}
    assert sorted((await shared.beat(2, held={ORDERS: 1, TURNS: 1})).revoked) == [ORDERS, TURNS]
    await shared.beat(2, released={ORDERS: 1, TURNS: 1}, wanted=[ORDERS, TURNS])
    assert (await shared.beat(1)).granted == {ORDERS: 2, TURNS: 2}
    shared.world.clock.advance(seconds=5)
    done = await shared.run(planned.id)
    assert (done.state, done.outcome) == (S.DONE, "read back as intended")
    assert done.steps[0].after == {"former_owner": 0, "successor": 2}

    back = await following.undo_operation(planned.id, ANNA, shared.context)

    assert back.plan.summary == "2 share queues of g go to broker 2"


async def test_one_share_queue_goes_to_the_named_member_o30(shared):
    await shared.beat(1, wanted=[ORDERS, TURNS])
    planned = await shared.plan(
        topic_name="orders", queue_id=1, consumer_group_name="billing", successor_id=3
    )
    assert planned.plan.summary == "1 share queue of g goes to broker 3"

    await shared.confirm(planned)

    decided = await shared.beat(1, held={ORDERS: 1, TURNS: 1})
    assert decided.revoked == [TURNS]
    await shared.beat(1, held={ORDERS: 1}, released={TURNS: 1})
    assert (await shared.beat(3)).granted == {TURNS: 2}


async def test_a_successor_that_is_not_in_sync_or_not_alive_blocks_the_plan(shared):
    await shared.beat(2, wanted=[ORDERS])
    shared.driver.heartbeat_source.heard.pop(3)

    for successor_id, why in ((9, "not in sync"), (3, "no heartbeat")):
        planned = await shared.plan(successor_id=successor_id)
        (check,) = (one for one in planned.plan.checks if one.name == "the next owner")
        assert check.verdict is CheckVerdict.BLOCK
        assert why in check.why


async def test_without_a_share_queue_that_is_meant_there_is_no_plan(shared):
    await shared.beat(1, wanted=[ORDERS])

    with pytest.raises(ShareLeasesNotFound, match="nothing to hand over"):
        await shared.plan(owner_id=2)
    with pytest.raises(ShareLeasesNotFound):
        await shared.plan(topic_name="others")
    one = {"topic_name": "orders", "queue_id": 0, "consumer_group_name": "billing"}
    with pytest.raises(InvalidParameters, match="exclude all other parameters"):
        await shared.plan(topic_name="others", queues=[one | {"successor_id": 2}])
    with pytest.raises(BrokerGroupNotControlled, match="the name is wrong"):
        await shared.plan(broker_group_name="unknown")


async def test_o30_a_drain_hands_over_what_the_broker_owns(shared):
    await shared.beat(2, wanted=[ORDERS])
    await shared.beat(3, wanted=[TURNS])
    view = await find_group(BrokerGroupName("g", "c"), shared.context.controller)
    order = SimpleNamespace(cluster_name="c", broker_group_name="g")

    async def moved(own_id, heir_id=None):
        found = SimpleNamespace(broker=SimpleNamespace(own_id=own_id))
        return await drain_broker.find_leases(order, found, view, heir_id, shared.context)

    assert await moved(2) == HandOverLeases("c", "g", 2, 1, (ORDERS,))
    assert await moved(2, heir_id=3) == HandOverLeases("c", "g", 2, 3, (ORDERS,))
    assert await moved(1) is None


async def test_an_undo_gives_each_share_queue_to_its_former_owner(shared):
    await shared.beat(2, wanted=[ORDERS])
    await shared.beat(3, wanted=[TURNS])
    planned = await shared.plan(successor_id=1)
    await shared.confirm(planned)
    for broker_id, name in ((2, ORDERS), (3, TURNS)):
        await shared.beat(broker_id, released={name: 1})
        await shared.beat(1)
        shared.world.clock.advance(seconds=5)
        await shared.run(planned.id)

    back = await following.undo_operation(planned.id, ANNA, shared.context)

    assert [one.after for one in back.plan.changes] == ["broker 2", "broker 3"]
