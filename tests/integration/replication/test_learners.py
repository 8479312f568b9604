"""Learners copy the log and are members of no set, as the controller learns (S43)."""

from backend.db import findings


async def test_a_learner_holds_the_log_and_is_missed_in_no_set(group, database, eventually):
    await group.add_many(2)
    await group.add(asyncLearner="true")
    assert (await group.send(1, b"message")).code == 0
    await group.await_equal_logs()

    async def is_known():
        async with database.connect() as connection:
            (observed,) = await findings.list_observed(connection)
        return {i for i, report in observed.reports.items() if report.is_learner} == {3}

    await eventually(is_known)
    assert await group.state() == (1, 1, {1, 2})
