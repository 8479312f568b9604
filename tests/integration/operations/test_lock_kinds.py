"""Locks are released and brokers cordoned once, wherever the worker that does it dies."""

import pytest

from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable
from backend.operations.engine.following import find_following
from backend.remoting.bodies import MessageQueue
from tests.integration.operations.crashing import POINTS, points
from tests.long_form import few

QUEUE = MessageQueue(broker_name="broker-a", queue_id=0, topic="orders")
CORDON = {"broker_group_name": "broker-a"}


def holder(agents):
    agent = agents.agent()
    held = agent.locks.find("billing", QUEUE, agent.clock())
    return held and held.client_id


def take(agents, client_id):
    agent = agents.agent()
    [_] = agent.locks.lock("billing", client_id=client_id, queues=[QUEUE], now_ms=agent.clock())


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere_and_only_the_planned_hold_ends(agents, name):
    deaths = 0
    for passed in points(name):
        take(agents, "dead")
        planned = await agents.plan("release_locks", client_id="dead")
        # Case B15.
        assert planned.plan.risk_label == "small, can't be undone"
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        is_free = holder(agents) is None
        if is_free:
            # The next client must not lose the queue to a step that is started again.
            take(agents, "dead")
        done = await agents.end(planned.id)

        assert done.state is S.DONE, (passed, done.outcome)
        assert holder(agents) == ("dead" if is_free else None)
        assert [step.before for step in done.steps] == [{"holders": {"billing orders/0": "dead"}}]
        agent = agents.agent()
        agent.locks.unlock("billing", client_id="dead", queues=[QUEUE])
        if lives:
            break
        deaths += 1
    assert deaths > 0


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere_and_a_broker_is_cordoned_and_back(agents, name):
    deaths = 0
    for passed in points(name):
        planned = await agents.plan("cordon_broker", **CORDON)
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.finish(planned.id)

        assert done.state is S.DONE, (passed, done.outcome)
        assert agents.agent().settings.permissions == 4
        assert (done.steps[0].before, done.steps[0].after) == (
            {"permission": 6},
            {"permission": 4},
        )
        back = await agents.undo(done)
        assert (back.kind, back.state) == ("uncordon_broker", S.DONE)
        assert agents.agent().settings.permissions == 6
        if lives:
            break
        deaths += 1
    assert deaths > 0


@pytest.mark.parametrize("kind", ["cordon_broker", "drain_broker"])
async def test_a_broker_that_had_no_right_to_write_is_given_none_by_an_undo(agents, kind):
    await agents.call(25, body=b"brokerPermission=4\n")
    planned = await agents.plan(kind, **CORDON)
    await agents.confirm(planned)
    done = await agents.finish(planned.id)

    with pytest.raises(NotUndoable, match="no right to write"):
        await agents.undo(done)

    assert done.state is S.DONE, done.outcome
    assert find_following(done, agents.context).why_not_undo is not None
    assert agents.agent().settings.permissions == 4
