"""The stories of `test_crashes` find the mistakes that they are there for, planted one a test.

`make soak SOAK=operations` also plants those that only one of about a hundred stories finds.
"""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from backend.db import operations
from backend.domain import operation_run
from backend.operations.engine import journal, request_keys
from backend.operations.engine.kind import StepRun
from tests.integration.operations.crashing import Agent
from tests.integration.operations.test_crashes import RUNS, Machine, open_stories

STORIES_MAX = 2_000
"""The first story that finds the mistake ends the search."""


@pytest.fixture
def stories(database_url):
    with open_stories(database_url) as (loop, database):
        yield lambda: Machine(loop, database)


async def _nothing(*_positional, **_named):
    return None


async def _taken_for_good(connection, **named):
    due = await TAKE_DUE(connection, **named)
    for entry in due:
        await operations.settle(connection, entry.operation_id)
    return due


TAKE_DUE = operations.take_due


def _begun_as_done(operation, position, *, fence, before, at):
    begun = BEGIN_STEP(operation, position, fence=fence, before=before, at=at)
    total = {"total": before["total"] + 1}
    return END_STEP(begun, position, fence=fence, before=before, after=total, at=at)


BEGIN_STEP, END_STEP = operation_run.begin_step, operation_run.end_step
WRITE = journal.write


async def _write_steps_only(connection, before, after, author, *, clock):
    """Forget the outbox where an operation goes from a worker back into the queue."""
    await WRITE(connection, before, after, author, clock=clock)
    if before.fence and after.state == "queued":
        await operations.settle(connection, after.id)


def _claim_under_one_number(operation, *, at, lease, fence_floor=0):
    claimed = CLAIM(operation, at=at, lease=lease, fence_floor=fence_floor)
    return claimed and replace(claimed, fence=1)


CLAIM = operation_run.claim

MISTAKES = {
    "nobody is owed a worker": (operations, "owe", _nothing),
    "a lost message is not sent again": (operations, "take_due", _taken_for_good),
    "each attempt has a key of its own": (
        StepRun,
        "key",
        property(lambda run: f"operation {run.operation.id}/{run.position}#{run.fence}"),
    ),
    "plans under one key are two": (request_keys, "find_known", _nothing),
}
FOUND_LATE = {
    "an operation given back is not owed a worker": (journal, "write", _write_steps_only),
    "the journal says done before it is": (operation_run, "begin_step", _begun_as_done),
    "every claim has the same fencing number": (operation_run, "claim", _claim_under_one_number),
    "an agent that comes back has forgotten what it did": (
        Agent,
        "restart",
        lambda agent: agent.known.clear(),
    ),
}
PLANTED = MISTAKES if RUNS < STORIES_MAX else MISTAKES | FOUND_LATE


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(stories, monkeypatch, mistake):
    monkeypatch.setattr(*PLANTED[mistake])

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            stories,
            settings=settings(
                max_examples=STORIES_MAX,
                stateful_step_count=8,
                deadline=None,
                database=None,
                # The same stories each time: rare ones find the rare mistakes.
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
            ),
        )
