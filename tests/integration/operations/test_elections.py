"""An election that is ordered comes once, wherever the worker that carries it out dies."""

import contextlib
import itertools
from dataclasses import replace

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.group_modes import Place
from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.domain.election import ReplicaReport
from backend.domain.operation import Author, Confirmation, OperationState
from backend.domain.operation_errors import MasterReplaced
from backend.domain.plan import CheckVerdict
from backend.domain.topic import QueueSettings
from backend.operations.actions.group_modes import SwitchBroker
from backend.operations.engine import orders
from backend.operations.engine.engine import run_operation
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun
from backend.rules.group_mode import GroupMode
from backend.services.controller.registrations import RegisterBroker, register_broker
from tests.integration.operations.crashing import Crash, World
from tests.integration.services.controller_driver import ControllerDriver
from tests.long_form import few

ANNA = Author("anna", "test")
ELECTED = "master_elected"


class Elections:
    """A group whose replicas follow at once, and workers that die at a point."""

    def __init__(self, database):
        self.driver = ControllerDriver(database)
        self.world = World(database)
        self.context = OperationContext(
            database, self.world.clock, self.world.queue, self.driver.controller
        )

    async def begin(self):
        await self.driver.make_f3()
        await self.follow()

    async def follow(self):
        group = await self.driver.group()
        told = {"epoch": group.master_epoch, "max_offset": 900}
        self.driver.heartbeat_source.heard = {
            i: ReplicaReport(0, 10_000, **told) for i in (1, 2, 3)
        }
        if len(group.sync_state_set.members) < 3:
            await self.driver.alter(
                {1, 2, 3},
                epoch=group.sync_state_set.epoch,
                master=group.master_id,
                master_epoch=group.master_epoch,
            )

    async def order(self):
        """Order the replica that is not master, 1 or 2, and give its id and the operation's."""
        wanted = 3 - (await self.driver.group()).master_id
        parameters = {"cluster_name": "c", "broker_group_name": "g", "broker_id": wanted}
        request = OperationRequest("elect_master", parameters)
        planned = await orders.plan_operation(request, ANNA, self.context)
        given = Confirmation("g", "why")
        await orders.confirm_operation(planned.id, given, ANNA, self.context)
        return wanted, planned.id

    async def describe(self, operation_id):
        return await orders.describe_operation(operation_id, self.context)

    async def run(self, operation_id, fatal=None):
        """Continue, and return whether the worker lives."""
        self.world.wire.arm(fatal)
        try:
            await run_operation(operation_id, self.context)
        except Crash:
            return False
        finally:
            self.world.wire.disarm()
        return True


@pytest.fixture
async def group(database, monkeypatch):
    # Who looks once need not wait for what this test does afterwards.
    monkeypatch.setattr("backend.operations.actions.replica_groups.FOLLOW_PATIENCE_S", 0)
    made = Elections(database)
    await made.begin()
    return made


@pytest.mark.parametrize("name", few(["clock", "commit"], 1))
async def test_a_worker_may_die_anywhere_and_the_master_is_elected_once(group, name):
    for passed in itertools.count():
        before = await group.driver.group()
        wanted, operation_id = await group.order()

        lives = await group.run(operation_id, (name, passed))
        if not lives:
            await group.follow()
            group.world.clock.advance(seconds=6)
            assert await group.run(operation_id)
        await group.follow()
        ended = await group.describe(operation_id)
        if ended.state in {OperationState.PARTLY, OperationState.UNKNOWN}:
            # Read back before the others had followed: it says so, and reads again when asked.
            await orders.retry_operation(operation_id, ANNA, group.context)
            assert await group.run(operation_id)
            ended = await group.describe(operation_id)

        after = await group.driver.group()
        assert ended.state is OperationState.DONE, (passed, ended.outcome)
        assert (after.master_id, after.master_epoch) == (wanted, before.master_epoch + 1)
        assert ended.steps[0].before["master_id"] == before.master_id
        assert ended.steps[0].after["master_id"] == wanted
        if lives:
            break
    assert passed > 5


async def test_no_broker_leaves_its_controller_once_another_master_was_elected(group):
    """The replicas of a switched group would copy the log of the former master."""
    first = await group.driver.group()
    former, replica = (first.replicas[one].address for one in (first.master_id, 3))
    place = Place(
        mode=GroupMode.ACTING_MASTER,
        broker_id=3,
        replica_count=3,
        master_address=former,
        others=(),
        founds=False,
    )
    switch = SwitchBroker("c", "g", "g-3", replica, place)
    _, operation_id = await group.order()
    assert await group.run(operation_id)
    run = StepRun(await group.describe(operation_id), position=0, fence=1, before=None)

    async with contextlib.aclosing(RemotingClient()) as client:
        controller = replace(group.context.controller, brokers=Brokers(client))
        context = replace(group.context, controller=controller)
        with pytest.raises(MasterReplaced, match=f"not {former} as planned: undo the operation"):
            await switch.do(run, context)


async def test_an_election_warns_of_topics_that_only_the_present_master_has(group, database):
    topics = {
        "orders": QueueSettings(4, 4, 6),
        "scores": QueueSettings(4, 4, 6, attributes=(("replicate", "False"),)),
    }
    registration = BrokerRegistration(0, "a:1", None, 10_000, DataVersion())
    command = RegisterBroker("c", "g", registration, topics=topics)
    await register_broker(command, database=database, clock=group.world.clock)

    _, operation_id = await group.order()

    checks = (await group.describe(operation_id)).plan.checks
    [found] = [one for one in checks if one.name == "topics that are not replicated"]
    assert found.verdict is CheckVerdict.WARN
    assert "replicas have no messages of scores: all messages" in found.why
