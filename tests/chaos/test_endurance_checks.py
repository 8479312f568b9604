"""The checks of a long run find what they are there for."""

from tests.chaos.endurance_checks import Footprint, check_growth, check_shown
from tests.chaos.journal import Acknowledgement, Reading

MINUTES = 60
AGENTS = (1, 2)


def footprints(*, memory=lambda _: 60_000, handles=lambda _: 100):
    return [
        Footprint("master", minute * 60.0, int(memory(minute)), int(handles(minute)), 12)
        for minute in range(1, MINUTES + 1)
    ]


def acknowledged(number, *, queue=0, offset=0):
    return Acknowledgement(
        number=number,
        agent=1,
        sent_at_s=1.0,
        answered_at_s=1.1,
        queue=queue,
        offset=offset,
        position=offset * 100,
    )


def shown(agent, *numbers, first_offset=0):
    return Reading(agent=agent, at_s=2.0, queue=0, first_offset=first_offset, numbers=numbers)


def test_a_process_that_uses_the_same_for_an_hour_does_not_grow():
    rows, violations = check_growth(footprints(memory=lambda minute: 60_000 + minute % 7 * 500))

    assert violations == []
    assert len(rows) == 2


def test_memory_that_a_process_fills_at_its_start_is_no_growth():
    _, violations = check_growth(footprints(memory=lambda minute: min(minute, 15) * 10_000))

    assert violations == []


def test_memory_and_handles_that_grow_all_the_time_are_found():
    _, memory = check_growth(footprints(memory=lambda minute: 60_000 + minute * 2_000))
    _, handles = check_growth(footprints(handles=lambda minute: 100 + minute * 5))

    assert memory == ["master: memory grows from 119000 to 160000 KiB"]
    assert handles == ["master: handles grow from 248 to 350"]


def test_a_run_without_a_last_third_is_not_judged():
    (one,) = check_growth([Footprint("master", 10.0, 60_000, 100, 12)])[1]

    assert "too short" in one


def test_what_was_acknowledged_and_is_shown_by_all_is_right():
    told = [acknowledged(7, offset=0), acknowledged(9, offset=1)]

    assert (
        check_shown(told, [shown(1, 7, 9), shown(2, 7), shown(2, 9, first_offset=1)], AGENTS) == []
    )


def test_lost_moved_and_unlike_messages_are_found():
    told = [acknowledged(7, offset=0), acknowledged(9, offset=1)]

    lost = check_shown(told, [shown(1, 7), shown(2, 7)], AGENTS)
    unlike = check_shown(told, [shown(1, 7, 9), shown(2, 7, 8)], AGENTS)
    behind = check_shown(told, [shown(1, 7, 9), shown(2, 7)], AGENTS)
    twice = check_shown([*told, acknowledged(11)], [shown(1, 7, 9), shown(2, 7, 9)], AGENTS)

    assert lost[0].startswith("an acknowledged message is lost: 9 at (0, 1)")
    assert unlike == ["replicas are not alike: (0, 1) is 9, and 8 at broker 2"]
    assert behind == ["an acknowledged message is lost: broker 2 never showed 1, as (0, 1)"]
    assert twice[0] == "a queue offset was used twice: (0, 0): 7, 11"
