"""The engine by itself: orders between steps, lost messages, two workers, steps that never end."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from backend.brokers.errors import BrokerUnreachable
from backend.db import operations as operation_rows
from backend.domain.errors import BrokerGroupBusy, UnknownReplica
from backend.domain.operation import (
    ATTEMPTS_MAX,
    Confirmation,
    OperationState,
    StepState,
)
from backend.domain.operation_errors import (
    BrokerSilent,
    ChangeRefused,
    IdempotencyKeyReused,
    PlanExpired,
)
from backend.operations.engine import engine, expiry, orders
from backend.operations.engine.kind import OperationRequest
from backend.services.access import audit
from backend.services.access.audit import AuditFilter
from tests.integration.operations.crashing import ANNA, Crash
from tests.waiting import PATIENCE_S

S = OperationState


async def held_up(world, operation_id):
    """Begin a worker that is held up in its first step."""
    world.agent.may_go_on.clear()
    worker = asyncio.create_task(world.run(operation_id))
    await asyncio.wait_for(world.agent.has_stopped.wait(), PATIENCE_S)
    return worker


async def test_a_confirmation_is_answered_although_the_database_stops_right_after(
    world, plan, look, monkeypatch
):
    planned = await plan()

    async def lose(*_, **__):
        raise OperationalError("UPDATE", None, ConnectionResetError())

    with monkeypatch.context() as outage:
        outage.setattr(operation_rows, "take_due", lose)
        confirmed = await orders.confirm_operation(
            planned.id, Confirmation(), ANNA, world.context, kinds=world.kinds
        )

    assert confirmed.state is S.QUEUED
    assert (await look(planned.id)).state is S.QUEUED
    assert (await orders.deliver(world.context)).sent_count == 1


async def test_a_pause_is_heeded_after_the_step_at_work(world, order, look):
    operation_id = await order()
    worker = await held_up(world, operation_id)

    await orders.pause_operation(operation_id, ANNA, world.context)
    assert (await look(operation_id)).state is S.RUNNING
    world.agent.may_go_on.set()
    await worker

    paused = await look(operation_id)
    assert paused.state is S.PAUSED
    assert [step.state for step in paused.steps] == [StepState.DONE, *[StepState.PENDING] * 2]
    await world.settle()
    assert (await look(operation_id)).state is S.PAUSED
    await orders.resume_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE


async def test_what_is_cancelled_between_steps_is_partly_done_and_can_go_on(world, order, look):
    operation_id = await order()
    worker = await held_up(world, operation_id)

    await orders.cancel_operation(operation_id, ANNA, world.context)
    world.agent.may_go_on.set()
    await worker

    cancelled = await look(operation_id)
    assert (cancelled.state, cancelled.outcome) == (S.PARTLY, "cancelled after 1 of 3 steps")
    await orders.retry_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE
    assert set(world.agent.effects.values()) == {1}


async def test_a_message_that_comes_twice_at_once_has_one_effect(world, order, look):
    operation_id = await order()

    outcomes = await asyncio.gather(*(world.run(operation_id) for _ in range(4)))

    assert sum(outcome is not None for outcome in outcomes) == 1
    assert (await look(operation_id)).state is S.DONE
    assert list(world.agent.effects.values()) == [1, 1, 1]


async def test_a_task_queue_that_is_away_only_delays(world, order, look):
    world.queue.is_away = True
    operation_id = await order()
    assert world.queue.messages == []

    await world.settle()

    assert (await look(operation_id)).state is S.DONE


async def test_a_worker_that_was_stalled_can_do_nothing_more(world, order, look):
    operation_id = await order()
    worker = await held_up(world, operation_id)
    held = (await look(operation_id)).fence
    gate, world.agent.may_go_on = world.agent.may_go_on, asyncio.Event()
    world.agent.may_go_on.set()
    world.clock.advance(seconds=6)

    assert await world.run(operation_id) is not None
    gate.set()

    assert await worker is None
    ended = await look(operation_id)
    assert (ended.state, ended.fence > held) == (S.DONE, True)
    assert list(world.agent.effects.values()) == [1, 1, 1]


async def test_a_clock_that_is_set_back_holds_up_nothing_that_was_noted_before(world, order, look):
    queued, lost = await order(1), await order(1)
    worker = await held_up(world, lost)
    worker.cancel()
    world.agent.may_go_on.set()

    world.clock.advance(hours=-2)
    await world.settle()

    assert [(await look(one)).state for one in (queued, lost)] == [S.DONE, S.DONE]


async def test_a_worker_whose_clock_is_a_little_behind_takes_nothing_from_another(world, order):
    operation_id = await order(1)
    worker = await held_up(world, operation_id)

    world.clock.advance(seconds=-2)
    assert await world.run(operation_id) is None

    world.agent.may_go_on.set()
    assert await worker is not None


async def test_a_wall_clock_that_is_set_forward_ends_no_lease(world, order, look, monkeypatch):
    # Case A9.
    monkeypatch.setattr(engine, "RENEWAL_INTERVAL", timedelta(seconds=0.3))
    world.context = replace(world.context, lease_watch_s=1.0)
    operation_id = await order(1)
    worker = await held_up(world, operation_id)
    held = (await look(operation_id)).fence

    world.clock.advance(minutes=10)

    assert await world.run(operation_id) is None
    assert (await look(operation_id)).fence == held
    world.agent.may_go_on.set()
    assert await worker is not None


async def test_the_lease_of_a_worker_that_died_is_taken_over_after_a_watch(world, order, look):
    world.context = replace(world.context, lease_watch_s=0.1)
    operation_id = await order(1)
    worker = await held_up(world, operation_id)
    worker.cancel()
    world.agent.may_go_on.set()

    world.clock.advance(seconds=6)

    assert await world.run(operation_id) is not None
    assert (await look(operation_id)).state is S.DONE


async def test_a_fence_rises_though_the_clock_of_the_database_was_set_back(
    world, order, look, database
):
    # Case A9.
    first, second = await order(1), await order(1)
    await world.settle()
    async with database.begin() as connection:
        await connection.execute(
            text("UPDATE operations SET fence = fence + 600000 WHERE id = :id"), {"id": first}
        )
    before = (await look(first)).fence
    third = await order(1)

    await world.run(third)

    assert (await look(second)).fence < before < (await look(third)).fence


@pytest.mark.parametrize(
    "error",
    [
        BrokerUnreachable("10.0.0.1:1", "nobody"),
        BrokerSilent("10.0.0.1:1", "no answer"),
        BrokerGroupBusy("g"),
        TimeoutError(),
    ],
)
async def test_what_may_go_better_later_is_tried_again(world, order, look, monkeypatch, error):
    operation_id = await order(1)
    add, left = world.agent.add, [error, error]

    async def sometimes(counter, run):
        if left:
            raise left.pop()
        return await add(counter, run)

    monkeypatch.setattr(world.agent, "add", sometimes)
    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].attempt_count) == (S.DONE, 3)


async def test_what_is_refused_fails_at_once(world, order, look, monkeypatch):
    operation_id = await order(1)

    async def refuse(_counter, _run):
        raise UnknownReplica("g", 9)

    monkeypatch.setattr(world.agent, "add", refuse)
    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].attempt_count) == (S.FAILED, 1)


async def test_what_is_refused_behind_an_attempt_that_was_left_open_is_unknown(
    world, order, look, monkeypatch
):
    operation_id = await order(1)
    add = world.agent.add
    answers = [BrokerUnreachable("10.0.0.1:1", "silence"), ChangeRefused("10.0.0.1:1", "a replica")]

    async def lose_the_answer(counter, run):
        await add(counter, run)
        raise answers.pop(0)

    monkeypatch.setattr(world.agent, "add", lose_the_answer)
    await world.settle()

    ended = await look(operation_id)
    assert (ended.state, ended.steps[0].state) == (S.UNKNOWN, StepState.UNKNOWN)
    assert "a replica" in ended.outcome
    monkeypatch.setattr(world.agent, "add", add)
    await orders.retry_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE
    assert list(world.agent.effects.values()) == [1]


async def test_a_step_that_ends_every_worker_is_given_up_as_unknown(
    world, order, look, monkeypatch
):
    operation_id = await order(1)
    add = world.agent.add

    async def end(_counter, _run):
        raise Crash

    monkeypatch.setattr(world.agent, "add", end)
    for _ in range(ATTEMPTS_MAX):
        with pytest.raises(Crash):
            await world.run(operation_id)
        world.clock.advance(seconds=6)
    await world.settle()
    assert (await look(operation_id)).state is S.UNKNOWN

    monkeypatch.setattr(world.agent, "add", add)
    await orders.retry_operation(operation_id, ANNA, world.context)
    await world.settle()
    assert (await look(operation_id)).state is S.DONE


async def test_a_plan_without_a_confirmation_expires(world, plan, look):
    confirmed_late, left_alone = await plan(), await plan()
    world.clock.advance(minutes=9)
    assert await expiry.lapse_expired(world.context) == 0
    world.clock.advance(minutes=1)

    with pytest.raises(PlanExpired):
        await orders.confirm_operation(
            confirmed_late.id, Confirmation(), ANNA, world.context, kinds=world.kinds
        )
    assert (await look(confirmed_late.id)).state is S.LAPSED
    assert await expiry.lapse_expired(world.context) == 1
    assert (await look(left_alone.id)).state is S.LAPSED


async def test_requests_with_one_key_that_come_at_once_have_one_effect(world, look):
    request = OperationRequest("count", world.parameters(2))

    plans = await asyncio.gather(
        *(
            orders.plan_operation(request, ANNA, world.context, key="k", kinds=world.kinds)
            for _ in range(4)
        )
    )
    [operation_id] = {one.id for one in plans}
    confirmed = await asyncio.gather(
        *(
            orders.confirm_operation(
                operation_id, Confirmation(), ANNA, world.context, key="c", kinds=world.kinds
            )
            for _ in range(4)
        )
    )
    assert {one.state for one in confirmed} == {S.QUEUED}
    await world.settle()
    assert (await look(operation_id)).state is S.DONE
    assert set(world.agent.effects.values()) == {1}


async def test_one_key_for_two_operations_at_once_lets_only_one_go_on(
    world, plan, look, monkeypatch
):
    ids = [(await plan(1)).id for _ in range(2)]
    both_looked, find_id = asyncio.Barrier(2), orders.request_keys.find_id

    async def find(*request):
        found = await find_id(*request)
        await both_looked.wait()
        return found

    monkeypatch.setattr(orders.request_keys, "find_id", find)
    told = await asyncio.gather(
        *(
            orders.confirm_operation(
                operation_id, Confirmation(), ANNA, world.context, key="k", kinds=world.kinds
            )
            for operation_id in ids
        ),
        return_exceptions=True,
    )

    assert [type(one) for one in told if isinstance(one, Exception)] == [IdempotencyKeyReused]
    assert sorted([(await look(operation_id)).state for operation_id in ids]) == [
        S.PLANNED,
        S.QUEUED,
    ]


async def test_one_operation_can_be_taken_back_by_two_and_is_undone_once(
    world, order, look, database
):
    operation_id = await order(1)
    await world.settle()
    for _ in range(2):
        request = OperationRequest("count", world.parameters(1), undoes=operation_id)
        back = await orders.plan_operation(request, ANNA, world.context, kinds=world.kinds)
        await orders.confirm_operation(
            back.id, Confirmation(), ANNA, world.context, kinds=world.kinds
        )
        await world.settle()
        assert (await look(back.id)).state is S.DONE

    assert (await look(operation_id)).state is S.UNDONE
    page = await audit.list_entries(
        size=50, before=None, chosen=AuditFilter(operation_id=operation_id), database=database
    )
    actions = [chained.entry.action for chained in page.items]
    assert actions.count("operation.undone") == 1
