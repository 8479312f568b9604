"""A change runs in steps that may come twice, be lost, or be undone before they are committed."""

import pytest

from backend.domain.logical_queue.change import (
    ChangeState,
    MoveStep,
    Request,
    RequestKind,
    decide,
    due_requests,
    redirect,
    roll_back,
    with_activated,
    with_prepared,
    with_sealed,
    with_spread,
    with_unsealed,
    without_broker_group,
)
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import QueueChangeRefused, SealedOffsetLost
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import plan_creation
from backend.domain.logical_queue.segment import INT64_MAX
from backend.domain.logical_queue.topic_checks import check_plan
from tests.unit.domain.logical_queue.builders import (
    NOW,
    created,
    groups,
    moved,
    segment,
    shown,
    topic,
)
from tests.unit.domain.logical_queue.simulated_cluster import Cluster

THREE = groups("b1", "b2", "b3")
FOUND = created(4, "b1", "b2", cluster=("b1", "b2", "b3"))
EPOCH = FOUND.epoch + 1_000


def planned(**others):
    return plan_moves(FOUND, [Relocation(0, "b1", "b3")], groups=THREE, now_ms=NOW, **others)


def prepared():
    return with_prepared(planned(), 0, Prepared(0))


def sealed():
    return with_sealed(prepared(), 0, Seal(101, 5, 9))


def due(change):
    return [(one.kind, one.broker_group_name) for one in due_requests(change)]


def test_a_move_asks_one_broker_after_the_other():
    change = planned()
    assert due_requests(change) == (Request(RequestKind.PREPARE, "b3", EPOCH, 0),)

    change = with_prepared(change, 0, Prepared(0))
    assert due_requests(change) == (Request(RequestKind.SEAL, "b1", EPOCH, 0),)

    change = with_sealed(change, 0, Seal(101, 5, 9))
    assert due_requests(change) == ()
    assert change.after.queue(0) == FOUND.queue(0)

    change = decide(change, 0)
    assert due_requests(change) == (Request(RequestKind.ACTIVATE, "b3", EPOCH, 0),)
    assert shown(change.after, 0) == "[g0 b1:q0 L0 S0 E101] [g1 b3:q0 L101 S0 E-]"
    assert change.after.queue(0).segments[0].last_stored_ms == 9

    change = with_activated(change, 0)
    assert due(change) == [(RequestKind.SPREAD, name) for name in ("b1", "b2", "b3")]
    for name in ("b1", "b2", "b3"):
        change = with_spread(change, name)
    assert change.state is ChangeState.DONE
    assert due_requests(change) == ()
    assert check_plan(change.after) == ()


def test_every_answer_may_come_twice():
    change = sealed()
    change = with_sealed(with_prepared(change, 0, Prepared(0)), 0, Seal(101, 5, 9))
    assert change == sealed()

    done = decide(change, 0)
    again = with_sealed(with_prepared(decide(done, 0), 0, Prepared(0)), 0, Seal(101, 5, 9))
    assert again == done

    active = with_activated(done, 0)
    assert with_activated(active, 0) == active
    assert with_spread(with_spread(active, "b1"), "b1") == with_spread(active, "b1")


def test_at_most_so_many_queues_move_at_once_and_begun_ones_come_first():
    found = created(9, "b1", cluster=("b1", "b2"))
    moves = [Relocation(one, "b1", "b2") for one in range(9)]
    change = plan_moves(found, moves, groups=groups("b1", "b2"), now_ms=NOW)

    assert [one.global_id for one in due_requests(change)] == [0, 1, 2, 3]
    change = with_prepared(change, 7, Prepared(0))
    assert [(one.kind, one.global_id) for one in due_requests(change, parallel_max=2)] == [
        (RequestKind.SEAL, 7),
        (RequestKind.PREPARE, 0),
    ]


def test_another_answer_than_before_is_refused():
    with pytest.raises(QueueChangeRefused, match="first prepared"):
        with_prepared(sealed(), 0, Prepared(1))


@pytest.mark.parametrize("end", [0, 100, 102])
def test_a_new_master_of_the_source_has_to_seal_at_the_same_end_l44(end):
    with pytest.raises(SealedOffsetLost, match="101"):
        with_sealed(sealed(), 0, Seal(end))


def test_an_end_before_the_start_of_a_reused_queue_is_refused():
    reused = topic(
        [segment(0, "b1:q0", 0, 50)],
        counts={"b2": 0},
        reused={("b1", 0): 50},
    )
    change = plan_moves(reused, [Relocation(0, "b1", "b2")], groups=groups("b1", "b2"), now_ms=NOW)

    with pytest.raises(QueueChangeRefused, match="can't end"):
        with_sealed(with_prepared(change, 0, Prepared(0)), 0, Seal(49))


@pytest.mark.parametrize("change", [planned(), prepared()], ids=["planned", "prepared"])
def test_a_move_is_decided_only_after_its_seal(change):
    with pytest.raises(QueueChangeRefused, match="not sealed"):
        decide(change, 0)
    with pytest.raises(QueueChangeRefused, match="not decided"):
        with_activated(change, 0)


def test_an_unknown_queue_has_no_move():
    with pytest.raises(QueueChangeRefused, match="no move"):
        with_prepared(planned(), 3, Prepared(0))


def test_a_control_plane_that_crashes_at_any_point_ends_in_the_same_state_l42():
    """Every answer before the crash may be lost: the request is repeated (P-RESUME)."""

    def run(lost_at):
        cluster = Cluster(["b1", "b2", "b3"])
        cluster.begin(plan_creation("T", 4, targets=["b1", "b2"], groups=THREE, now_ms=NOW))
        cluster.finish()
        for _ in range(3):
            cluster.send(0)
        cluster.dispatch()
        cluster.begin(
            plan_moves(cluster.truth, [Relocation(0, "b1", "b3")], groups=THREE, now_ms=NOW)
        )
        steps = 0
        while not cluster.is_idle:
            cluster.step(loses_answer=steps == lost_at)
            steps += 1
        states = {name: one.topic for name, one in cluster.brokers.items()}
        return cluster.truth, states, cluster.findings(), steps

    truth, states, findings, steps = run(lost_at=None)

    assert findings == ()
    assert steps == 7
    for lost_at in range(steps):
        assert run(lost_at)[:3] == (truth, states, ())


def test_another_destination_is_chosen_while_nothing_is_committed_l43():
    change = redirect(sealed(), 0, "b2")

    assert due(change) == [(RequestKind.PREPARE, "b2")]
    change = with_sealed(with_prepared(change, 0, Prepared(2)), 0, Seal(101, 5, 9))
    change = decide(change, 0)
    assert shown(change.after, 0) == "[g0 b1:q0 L0 S0 E101] [g1 b2:q2 L101 S0 E-]"
    with pytest.raises(QueueChangeRefused, match="already moved"):
        redirect(change, 0, "b3")


def test_a_destination_that_gives_queues_away_is_refused():
    with pytest.raises(QueueChangeRefused, match="gives logical queues away"):
        redirect(planned(), 0, "b1")
    assert redirect(planned(), 0, "b3") == planned()


@pytest.mark.parametrize("change", [planned(), prepared(), sealed()], ids=["M0", "M1", "M2"])
def test_a_change_is_rolled_back_in_a_higher_epoch_l45(change):
    undone = roll_back(change)

    assert undone.epoch == EPOCH + 1_000
    assert undone.after.queues == FOUND.queues
    # A seal whose answer was lost is removed too.
    assert due_requests(undone)[0] == Request(RequestKind.UNSEAL, "b1", EPOCH + 1_000, 0)
    assert roll_back(undone) == undone
    undone = with_unsealed(undone, 0)
    for name in ("b1", "b2", "b3"):
        assert undone.state is ChangeState.ROLLING_BACK
        undone = with_spread(undone, name)
    assert undone.state is ChangeState.ABORTED
    assert with_prepared(roll_back(change), 0, Prepared(0)).after == undone.after


def test_a_committed_change_only_goes_forward():
    for change in (decide(sealed(), 0), with_activated(decide(sealed(), 0), 0)):
        with pytest.raises(QueueChangeRefused, match="only goes forward"):
            roll_back(change)


def test_a_change_is_done_without_a_broker_that_is_down_l50():
    change = with_activated(decide(sealed(), 0), 0)
    for name in ("b1", "b3"):
        change = with_spread(change, name)

    done = without_broker_group(change, "b2")

    assert done.state is ChangeState.DONE
    assert done.stale == {"b2"}
    assert with_spread(done, "b2").stale == frozenset()


def test_a_topic_is_not_created_without_a_broker_that_leads_its_queues_l4():
    change = plan_creation("T", 2, targets=["b1", "b2"], groups=THREE, now_ms=NOW)

    assert without_broker_group(change, "b3").stale == {"b3"}
    with pytest.raises(QueueChangeRefused, match="leads new"):
        without_broker_group(change, "b2")
    with pytest.raises(QueueChangeRefused, match="still move"):
        without_broker_group(planned(), "b2")


def test_a_forced_move_jumps_and_needs_no_seal_l46():
    change = planned(forced_ends={0: 101})

    change = with_prepared(change, 0, Prepared(0))
    assert due_requests(change) == ()
    change = decide(change, 0)

    assert change.is_forced
    assert shown(change.after, 0) == "[g0 b1:q0 L0 S0 E-] [g1 b3:q0 L10000 S0 E-]"
    assert change.after.forced == {(0, 0)}
    assert check_plan(change.after) == ()


def test_a_forced_move_needs_no_answer_of_its_source():
    down = groups("b1", "b2", "b3", silent=["b1"])
    move = [Relocation(0, "b1", "b3")]

    with pytest.raises(QueueChangeRefused, match="b1 does not answer"):
        plan_moves(FOUND, move, groups=down, now_ms=NOW)
    change = plan_moves(FOUND, move, groups=down, now_ms=NOW, forced_ends={0: 7})
    assert moved(change, {}).queue(0).leader.logical_start == 10_000


@pytest.mark.parametrize(
    ("known", "start", "is_fine"),
    [(101, 101, True), (101, 100, False), (101, 7_000, True), (0, 0, False), (-1, 5, False)],
)
def test_an_operator_chooses_a_start_at_or_after_the_last_known_end(known, start, is_fine):
    named = {"forced_ends": {0: known}, "forced_starts": {0: start}}
    if is_fine:
        after = moved(planned(**named), {})
        assert after.queue(0).leader.logical_start == start
        return
    with pytest.raises(QueueChangeRefused, match="no start after it"):
        planned(**named)


def test_no_queue_moves_beyond_64_bits():
    with pytest.raises(QueueChangeRefused, match="no logical offset"):
        planned(forced_ends={0: INT64_MAX})
    far = topic([segment(0, "b1:q0", INT64_MAX - 5)], counts={"b2": 0})
    change = plan_moves(far, [Relocation(0, "b1", "b2")], groups=groups("b1", "b2"), now_ms=NOW)
    change = with_prepared(change, 0, Prepared(0))

    last = decide(with_sealed(change, 0, Seal(5)), 0)

    assert last.after.queue(0).leader.logical_start == INT64_MAX
    with pytest.raises(QueueChangeRefused, match="no logical offset"):
        decide(with_sealed(change, 0, Seal(6)), 0)


def test_the_steps_of_a_move_are_those_of_the_protocol():
    assert [one.value for one in MoveStep] == [
        "planned",
        "prepared",
        "sealed",
        "decided",
        "active",
    ]
