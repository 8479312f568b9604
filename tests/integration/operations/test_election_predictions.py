"""What a plan and an explained election foretell is what the controller's request then does."""

from collections import Counter
from dataclasses import replace

from backend.domain.errors import BrokerNotRegistered, DomainError
from backend.domain.plan import CheckVerdict
from backend.operations.engine.kind import OperationContext
from backend.operations.kinds import elect_master
from backend.services.controller import elections
from backend.services.controller.group_changes import BrokerGroupName, find_group
from backend.services.controller.replica_views import explain_election
from backend.services.stock_codes import stock_code_of
from tests.integration.operations.crashing import World
from tests.integration.services.controller_driver import ControllerDriver
from tests.integration.services.written_groups import write_group
from tests.unit.domain.generated_elections import (
    DONE,
    NO_WINNER,
    REFUSED,
    STAYS,
    UNKNOWN,
    generate_cases,
)

SEED, CASE_COUNT = 1_122, 800
PLANNED_MIN = 500


async def read_plan(case, context):
    """Say what the plan page shows: code and master."""
    order = elect_master.ElectMaster("c", case.group.name, case.ballot.broker_id)
    try:
        facts = await elect_master.read_facts(order, context)
        plan = await elect_master.preview(order, facts, context)
    except BrokerNotRegistered:
        return UNKNOWN, case.group.master_id
    blocks = [check for check in plan.checks if check.verdict is CheckVerdict.BLOCK]
    if blocks:
        return blocks[0].stock_code, case.group.master_id
    if plan.facts["is_unchanged"]:
        return STAYS, case.group.master_id
    if any(check.name == "lease" for check in plan.checks):
        # Of a dead master: the operation waits, as the request would not.
        return REFUSED, case.group.master_id
    return DONE, plan.facts["winner_id"]


async def read_explanation(case, context):
    """Say what the page of the group shows."""
    view = await find_group(BrokerGroupName(case.group.name, "c"), context.controller)
    designated_id = case.ballot.broker_id
    try:
        told = explain_election(view, context.controller, designated_id=designated_id)
    except BrokerNotRegistered:
        return UNKNOWN, case.group.master_id
    if told.winner_id is None:
        return (NO_WINNER if designated_id is None else REFUSED), case.group.master_id
    if told.is_unchanged:
        return STAYS, case.group.master_id
    if told.awaits_lease_ms:
        return REFUSED, case.group.master_id
    return DONE, told.winner_id


async def ask(case, context):
    """Have the controller do it; what it refuses must leave the group as it was (D4)."""
    name = BrokerGroupName(case.group.name, "c")
    before = (await find_group(name, context.controller)).group
    code = DONE
    try:
        view = await elections.elect(
            elections.ElectionRequest(name, case.ballot, "test"), context.controller
        )
    except DomainError as error:
        code = int(stock_code_of(error))
    else:
        code = STAYS if view.change is None else DONE
    after = (await find_group(name, context.controller)).group
    if code == DONE:
        assert after.master_epoch == before.master_epoch + 1
        assert after.sync_state_set.members == {after.master_id}
    else:
        assert after == before
    return code, after.master_id


async def test_plan_and_explanation_foretell_what_the_request_does(database):
    world, driver, seen = World(database), ControllerDriver(database), Counter()
    for case in generate_cases(SEED, CASE_COUNT):
        if not case.is_an_operators:
            continue
        driver.heartbeat_source.heard = case.liveness.reports
        controller = replace(driver.controller, allows_unclean=case.ballot.allows_unclean)
        context = OperationContext(database, world.clock, world.queue, controller)
        await write_group(database, case.group, lease_left_ms=case.liveness.lease_left_ms)

        planned = await read_plan(case, context)
        explained = await read_explanation(case, context)
        done = await ask(case, context)

        assert planned == explained == done, case
        seen[done[0]] += 1

    assert seen.total() >= PLANNED_MIN
    assert set(seen) == {DONE, NO_WINNER, STAYS, REFUSED, UNKNOWN}
