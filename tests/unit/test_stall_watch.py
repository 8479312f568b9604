"""What is shown of a thread that stands still."""

import tempfile
import threading

import pytest

from tests.stall_watch import LOOK_S, STALL_S, Looks, Usage, read_stack

BUSY = ['  File "a.py", line 3 in work', '  File "a.py", line 9 in main']
MOVED = ['  File "a.py", line 4 in work', '  File "a.py", line 9 in main']
IDLE = ['  File "selectors.py", line 468 in select', '  File "a.py", line 9 in main']


def at(moment_s):
    return Usage(moment_s, moment_s, 0, 0.0)


def shown(stacks):
    """Return what is shown if each look meets one stack."""
    looks = Looks(at(0))
    return [looks.take(at(number * LOOK_S), one) for number, one in enumerate(stacks, 1)]


@pytest.fixture
def file():
    with tempfile.TemporaryFile() as file:
        yield file


class Handle:
    """An object that only its own thread may destroy."""

    ended_in = None

    def __del__(self):
        Handle.ended_in = threading.get_ident()


def stand(is_there, may_end):
    handle = Handle()
    is_there.set()
    may_end.wait(30)
    assert handle is not None


def test_the_stack_of_another_thread_is_read_with_the_innermost_call_first(file):
    is_there, may_end = threading.Event(), threading.Event()
    thread = threading.Thread(target=stand, args=(is_there, may_end))
    thread.start()
    assert is_there.wait(30)

    calls = read_stack(thread.ident, file)
    may_end.set()
    thread.join()

    names = [one.rpartition(" in ")[2] for one in calls]
    assert names.index("stand") < names.index("run")
    assert Handle.ended_in == thread.ident
    assert read_stack(thread.ident, file) == []


def test_a_thread_that_stands_at_one_place_is_shown_again_and_again():
    count = int(STALL_S / LOOK_S)

    delays = [one for one in shown([BUSY] * (3 * count + 4)) if one]

    assert len(delays) == 3
    assert all(f"stands here for {STALL_S + LOOK_S:.1f} s" in one for one in delays)
    assert delays[0].splitlines()[1:] == BUSY[::-1]


@pytest.mark.parametrize("stacks", [[IDLE], [BUSY, MOVED], [BUSY, IDLE], [[]]])
def test_a_thread_that_moves_or_waits_is_not_shown(stacks):
    assert not any(shown(stacks * 40))


def test_a_process_that_did_not_run_is_shown_and_not_its_stack():
    looks = Looks(at(0))
    looks.take(at(LOOK_S), BUSY)

    delay = looks.take(at(LOOK_S + STALL_S + 1), BUSY)

    assert delay.startswith("no thread of this process ran for 3.0 s")
    assert looks.take(at(LOOK_S + STALL_S + 1 + LOOK_S), BUSY) == ""
