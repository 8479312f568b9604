"""Which client reads which queue, as clients decide it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.queue_allocation import AllocatedQueue, AllocationRule, allocate


def queues(*groups, count):
    return [AllocatedQueue(group, number) for group in groups for number in range(count)]


def reported(allocation):
    return {
        client: [f"{one.broker_group_name}{one.queue_id}" for one in found]
        for client, found in allocation.items()
    }


# As AllocateMessageQueueAveragely and ...ByCircle of stock's client answer for 10 queues.
@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (
            AllocationRule.AVERAGE,
            {"c1": "a0 a1 a2 a3", "c2": "a4 b0 b1", "c3": "b2 b3 b4"},
        ),
        (
            AllocationRule.CIRCLE,
            {"c1": "a0 a3 b1 b4", "c2": "a1 a4 b2", "c3": "a2 b0 b3"},
        ),
    ],
)
def test_queues_are_dealt_as_by_stock(rule, wanted):
    found = allocate(queues("b", "a", count=5), ["c3", "c1", "c2", "c1"], rule)

    assert reported(found) == {client: names.split() for client, names in wanted.items()}


@given(
    st.integers(0, 40),
    st.sets(st.text(min_size=1, max_size=3), max_size=9),
    st.sampled_from(AllocationRule),
)
def test_each_queue_is_read_once_and_no_client_has_two_more_than_another(count, clients, rule):
    found = allocate(queues("a", count=count), sorted(clients), rule)

    sizes = [len(one) for one in found.values()]
    assert set(found) == clients
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    dealt = sorted(queue for one in found.values() for queue in one)
    assert dealt == (queues("a", count=count) if clients else [])
