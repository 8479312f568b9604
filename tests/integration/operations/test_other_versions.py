"""Operations that another version of this program ordered, and workers that can't read them."""

from dataclasses import dataclass, replace

import pytest

from backend.domain.operation import OperationState, StepState
from backend.operations.engine import engine, orders
from tests.integration.operations.crashing import ANNA, AddOne, Crash

S = OperationState


async def test_what_a_worker_does_not_know_ends_with_what_to_do_and_goes_on_once_it_does(
    world, order, look
):
    operation_id = await order(1)
    known, world.kinds = world.kinds, {}

    await world.settle()

    failed = await look(operation_id)
    assert failed.state is S.FAILED
    assert "count: workers of this version do not know it" in failed.outcome
    assert "then try again" in failed.outcome
    world.kinds = known
    await orders.retry_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE


@pytest.mark.parametrize("done_count", [1, 2])
async def test_what_was_begun_and_is_unknown_to_the_next_worker_ends_open(
    world, order, look, done_count
):
    operation_id = await order(2)
    known = world.kinds
    world.wire.arm(("before the effect" if done_count < 2 else "after the effect", 1))
    with pytest.raises(Crash):
        await world.run(operation_id)
    world.wire.disarm()
    world.kinds = {}

    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].state) == (S.UNKNOWN, StepState.DONE)
    assert "count: workers of this version do not know it" in ended.outcome
    world.kinds = known
    await orders.retry_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE
    assert list(world.agent.effects.values()) == [1, 1]


async def test_what_a_worker_does_not_know_is_not_read_back_by_it(world, order, look, monkeypatch):
    operation_id = await order(1)

    async def die(*_):
        raise Crash

    with monkeypatch.context() as dying:
        dying.setattr(engine._Run, "_finish", die)
        with pytest.raises(Crash):
            await world.run(operation_id)
    world.kinds = {}

    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].state) == (S.UNKNOWN, StepState.DONE)
    assert "count: workers of this version do not know it" in ended.read_back[0].observed


@dataclass(frozen=True, slots=True)
class AddSome(AddOne):
    """The same action as a version knows it that needs one parameter more."""

    amount: int


@pytest.mark.parametrize("actions", [(), (AddSome,)], ids=["unknown", "with another parameter"])
async def test_an_action_that_this_version_cannot_read_ends_with_what_to_do(
    world, order, look, actions
):
    operation_id = await order(2)
    world.kinds = {"count": replace(world.kinds["count"], actions=actions)}

    await world.settle()

    ended = await look(operation_id)
    assert ended.state is S.FAILED
    assert "plan it again" in ended.outcome
    assert not world.agent.effects
