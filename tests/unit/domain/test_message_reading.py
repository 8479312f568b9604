"""A topic is read in the order of store times, without gap or repetition, however pages are cut."""

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.message_reading import Pulled, merge_queues
from tests.unit.domain.test_message import message

PULLED_MAX = 3
QUEUE = ("broker-a", 0)


def stored(queue_id, times):
    """Give the messages of a queue that were stored at these times."""
    return [
        message(offset, queue_id=queue_id, stored_at_ms=at_ms) for offset, at_ms in enumerate(times)
    ]


def pull(messages, offset):
    found = messages[offset : offset + PULLED_MAX]
    return Pulled(tuple(found), offset + len(found), 0, len(messages))


def read(queues, size, **limits):
    """Read page by page until nothing is left."""
    positions = dict.fromkeys(queues, 0)
    pages, has_more = [], True
    while has_more:
        pulled = {name: pull(queues[name], positions[name]) for name in queues}
        page, positions, has_more = merge_queues(pulled, positions, size=size, **limits)
        pages.append(page)
        assert page or not has_more, "no page leads nowhere"
    return pages, positions


TIMES = st.lists(st.integers(1, 20), max_size=12).map(sorted)


@given(st.lists(TIMES, max_size=4), st.integers(1, 8))
def test_every_message_is_read_once_in_the_order_of_store_times(times, size):
    queues = {("broker-a", i): stored(i, one) for i, one in enumerate(times)}

    pages, positions = read(queues, size)

    found = [one for page in pages for one in page]
    assert [one.order for one in found] == sorted(
        one.order for messages in queues.values() for one in messages
    )
    assert all(len(page) <= size for page in pages)
    assert positions == {name: len(messages) for name, messages in queues.items()}


@given(st.lists(st.lists(st.integers(1, 20), max_size=12), max_size=4), st.integers(1, 8))
def test_clocks_that_jump_back_lose_and_repeat_nothing(times, size):
    queues = {("broker-a", i): stored(i, one) for i, one in enumerate(times)}

    pages, _ = read(queues, size)

    found = sorted(one.order for page in pages for one in page)
    assert found == sorted(one.order for messages in queues.values() for one in messages)


@given(st.lists(TIMES, max_size=4), st.integers(1, 8), st.integers(1, 20))
def test_nothing_is_read_that_was_stored_at_the_end_or_later(times, size, end_ms):
    queues = {("broker-a", i): stored(i, one) for i, one in enumerate(times)}

    pages, _ = read(queues, size, end_ms=end_ms)

    found = [one.stored_at_ms for page in pages for one in page]
    assert found == sorted(at for one in times for at in one if at < end_ms)


def test_a_place_before_what_was_deleted_leads_to_what_is_left():
    page, positions, has_more = merge_queues({QUEUE: Pulled((), 40, 40, 50)}, {QUEUE: 3}, size=9)

    assert (page, positions, has_more) == ([], {QUEUE: 40}, True)


def test_a_place_beyond_the_end_leads_back_to_it():
    page, positions, has_more = merge_queues({QUEUE: Pulled((), 90, 0, 50)}, {QUEUE: 90}, size=9)

    assert (page, positions, has_more) == ([], {QUEUE: 50}, False)


def test_a_queue_that_did_not_answer_keeps_its_place():
    silent = ("broker-b", 0)
    reported = {QUEUE: pull(stored(0, [5]), 0)}

    page, positions, has_more = merge_queues(reported, {QUEUE: 0, silent: 7}, size=9)

    assert [one.stored_at_ms for one in page] == [5]
    assert (positions, has_more) == ({QUEUE: 1, silent: 7}, False)
