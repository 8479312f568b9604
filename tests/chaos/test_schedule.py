"""A seed is a schedule."""

import itertools

from tests.chaos.schedule import LEASE_S, PAUSE_S_MIN, WEIGHTS, Kind, Side, draw_faults


def drawn(seed, count, pause_s_max=20.0):
    return list(itertools.islice(draw_faults(seed, pause_s_max=pause_s_max), count))


def test_the_same_seed_draws_the_same_faults():
    assert drawn(7, 200) == drawn(7, 200)


def test_another_seed_draws_others():
    assert drawn(7, 20) != drawn(8, 20)


def test_the_first_faults_are_of_every_kind():
    for seed in range(50):
        assert {fault.kind for fault in drawn(seed, len(WEIGHTS))} == set(Kind)


def test_the_partitions_of_a_schedule_can_all_have_the_master():
    faults = draw_faults(7, pause_s_max=4, of=Side.MASTER)

    assert all(Side.MASTER in fault.sides for fault in itertools.islice(faults, 200))


def test_kinds_come_as_often_as_they_weigh():
    round_size = sum(WEIGHTS.values())

    faults = drawn(7, 10 * round_size)

    counts = {kind: sum(fault.kind is kind for fault in faults) for kind in Kind}
    assert counts == {kind: 10 * weight for kind, weight in WEIGHTS.items()}


def test_pauses_are_shorter_and_longer_than_a_lease_and_never_over_the_limit():
    pauses = [fault.duration_s for fault in drawn(7, 2000) if fault.kind is Kind.PAUSE]

    assert min(pauses) >= PAUSE_S_MIN
    assert sum(pause < LEASE_S for pause in pauses) > len(pauses) / 4
    assert sum(pause > LEASE_S for pause in pauses) > len(pauses) / 4
    assert any(pause > 10 for pause in pauses)
    assert max(pauses) <= 20


def test_every_link_is_cut_in_either_direction():
    sides = {fault.sides for fault in drawn(7, 2000) if fault.kind is Kind.ONE_WAY}

    assert sides == {tuple(reversed(pair)) for pair in sides}
    assert len(sides) == 18


def test_some_kinds_alone():
    kinds = (Kind.ALL, Kind.PAUSE)

    assert {
        fault.kind for fault in itertools.islice(draw_faults(7, pause_s_max=20.0, only=kinds), 50)
    } == set(kinds)
