"""Producers and consumers go on while their queue moves, in a cluster in memory."""

import pytest

from backend.domain.logical_queue.change import MoveStep
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import plan_creation
from tests.unit.domain.logical_queue.builders import NOW, groups
from tests.unit.domain.logical_queue.simulated_cluster import Cluster

NAMES = ("b1", "b2")
BOTH = groups(*NAMES)


@pytest.fixture
def cluster():
    found = Cluster(NAMES)
    found.begin(plan_creation("T", 2, targets=NAMES, groups=BOTH, now_ms=NOW))
    found.finish()
    return found


def begin_move(cluster, **others):
    move = [Relocation(0, "b1", "b2")]
    cluster.begin(plan_moves(cluster.truth, move, groups=BOTH, now_ms=NOW, **others))


def run_until(cluster, step):
    for _ in range(20):
        if cluster.change.moves[0].step is step:
            return
        cluster.step()
    raise AssertionError(step)


def test_one_producer_sends_through_a_move_and_all_is_read_once_in_order_l20(cluster):
    begin_move(cluster)
    offsets = []
    while not cluster.is_idle:
        offsets += [one for one in (cluster.send(0), cluster.send(0)) if one is not None]
        cluster.dispatch()
        cluster.step()
    offsets.append(cluster.send(0))
    cluster.dispatch()

    read = cluster.consume("g", 0)

    assert offsets == list(range(len(offsets)))
    assert [offset for offset, _ in read] == offsets
    assert [message for _, message in read] == sorted(message for _, message in read)
    assert len(cluster.truth.queue(0).segments) == 2


def test_a_message_that_follows_another_one_has_the_greater_offset_l21(cluster):
    """Stock has two writers for a while, and the later message may get the smaller offset."""
    begin_move(cluster)
    last = -1
    while not cluster.is_idle:
        # The second producer still has the old route: it reaches whichever broker takes messages.
        assert len(cluster.admitting(0)) <= 1
        for _ in ("P1", "P2"):
            offset = cluster.send(0)
            assert offset is None or offset > last
            last = last if offset is None else offset
        cluster.dispatch()
        cluster.step()
    assert cluster.send(0) > last


def test_messages_that_were_admitted_before_the_seal_are_before_its_end_l23(cluster):
    cluster.send(0)
    cluster.admit(0)
    begin_move(cluster)
    run_until(cluster, MoveStep.PREPARED)

    # The seal waits for the admitted message, and new ones are not taken.
    cluster.step()
    assert cluster.change.moves[0].step is MoveStep.PREPARED
    assert cluster.admitting(0) == []
    assert cluster.complete(0) == 1
    # It also waits until readers can see the message.
    cluster.step()
    assert cluster.change.moves[0].step is MoveStep.PREPARED
    cluster.dispatch()
    cluster.finish()

    assert cluster.truth.queue(0).segments[0].physical_end == 2
    assert len(cluster.consume("g", 0)) == 2


def test_a_consumer_reads_over_the_border_of_two_segments_once_l29(cluster):
    for _ in range(5):
        cluster.send(0)
    cluster.dispatch()
    first = cluster.consume("g", 0, limit=3)
    begin_move(cluster)
    cluster.finish()
    for _ in range(4):
        cluster.send(0)
    cluster.dispatch()

    rest = cluster.consume("g", 0)

    assert [offset for offset, _ in first + rest] == list(range(9))
    assert cluster.consume("g", 0) == []
    assert cluster.positions_of("g")["b2", 1] == 4


@pytest.mark.parametrize(("unknown", "known_end"), [(50, 101), (20_000, 101)])
def test_messages_of_a_returned_source_are_read_up_to_the_jump_l46(cluster, unknown, known_end):
    for _ in range(known_end):
        cluster.send(0)
    for _ in range(unknown):
        cluster.admit(0)
    cluster.dispatch()
    cluster.brokers["b1"].is_up = False
    begin_move(cluster, forced_ends={0: known_end})
    cluster.finish()
    cluster.send(0)
    cluster.dispatch()

    overlaps = cluster.return_of("b1")
    read = cluster.consume("g", 0, limit=50_000)

    offsets = [offset for offset, _ in read]
    assert offsets == [*range(min(101 + unknown, 10_000)), 10_000]
    assert [one.message_count for one in overlaps] == ([10_101] if unknown > 10_000 else [])
    assert len({message for _, message in read}) == len(read)


def test_a_broker_that_returns_late_gets_the_mapping_before_it_serves_l50(cluster):
    cluster.send(0)
    cluster.dispatch()
    cluster.brokers["b1"].is_up = False
    begin_move(cluster, forced_ends={0: 1})
    cluster.finish()

    assert cluster.change.stale == {"b1"}
    # Its own copy is the old one until it returns, and routes prefer the newer epoch.
    assert cluster.brokers["b1"].topic.mapping.leads(0)
    assert cluster.route.leader_name(0) == "b2"
    cluster.return_of("b1")
    assert not cluster.brokers["b1"].topic.admits_sends(0)
    assert cluster.findings() == ()
