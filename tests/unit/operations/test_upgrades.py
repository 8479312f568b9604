"""What the upgrade of a broker group waits for between two restarts."""

import pytest

from backend.domain.election import Liveness, ReplicaReport
from backend.domain.replica_group import Replica, ReplicaGroup, SyncStateSet
from backend.operations.actions import protocol_versions
from backend.operations.actions.protocol_versions import AwaitUpgrade, find_late
from backend.operations.engine.kind import Waiting
from backend.services.controller.group_changes import GroupView

JOINING = {"is_learner": True, "is_verified": False}
LEARNER = {"is_learner": True}


@pytest.fixture
def wait_for(monkeypatch):
    """Wait for the upgrade of a broker; give what is said, or None if nothing is left."""

    async def wait_for(view, broker_id):
        async def find_group(*_):
            return view

        monkeypatch.setattr(protocol_versions, "find_group", find_group)
        context = type("Context", (), {"controller": None})()
        try:
            await AwaitUpgrade("c", "g", broker_id, 2).do(None, context)
        except Waiting as waiting:
            return str(waiting)

    return wait_for


def view_of(report, *versions):
    """Give a group of which the second broker is not in the set, and reports something."""
    replicas = {i: Replica(i, f"a{i}", f"a{i};t", one) for i, one in enumerate(versions, 1)}
    members = replicas.keys() - {2}
    group = ReplicaGroup(
        "c", "g", replicas=replicas, master_id=1, sync_state_set=SyncStateSet(frozenset(members))
    )
    reports = {i: ReplicaReport(0, 10_000) for i in members}
    return GroupView(group, Liveness(reports | {2: ReplicaReport(0, 10_000, **report)}))


@pytest.mark.parametrize(("report", "is_late"), [({}, True), (JOINING, True), (LEARNER, False)])
async def test_the_next_broker_waits_for_one_that_fetches_older_segments(wait_for, report, is_late):
    # It reports as a learner meanwhile (ADR 25), and an operator's learner never joins.
    view = view_of(report, 1, 2, 1)

    upgraded, following = await wait_for(view, 2), await wait_for(view, 3)

    assert ("copies what it lacks" in (upgraded or "")) == is_late
    assert following.startswith("do not stop broker 3" if is_late else "broker 3")
    assert find_late(view) == ({2} if is_late else set())
