"""Masters' reports of their groups are kept for lists; a silent master leaves its last report."""

import asyncio

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress
from backend.domain.errors import ClusterNotFound
from backend.domain.queue_reading import OnlineGroup, QueueProgress
from backend.domain.topic import READ_WRITE, QueueSettings
from backend.services.consumer_group.recorded_lags import list_lags, measure_lags
from tests.integration.tasks.conftest import NOON, SetClock, register

A, B = "10.0.0.1:10911", "10.0.0.2:10911"


class Progress(Brokers):
    def __init__(self):
        self.slow = set()
        self.online = {}
        self.told = {
            A: {
                "billing": [QueueProgress("orders", 0, 5, 9), QueueProgress("orders", 1, 9, 9)],
                "audit": [QueueProgress("orders", 0, 0, 9)],
            },
            B: {"billing": [QueueProgress("orders", 0, 1, 4), QueueProgress("refunds", 0, 9, 4)]},
        }

    async def ask(self, address, inquiry):
        match inquiry:
            case GetGroupsWithOffsets() if address in self.slow:
                await asyncio.Event().wait()
            case GetGroupsWithOffsets() if address not in self.told:
                raise BrokerUnreachable(address, "nobody listens")
            case GetGroupsWithOffsets():
                return sorted(self.told[address])
            case GetProgress(group):
                return self.told[address][group]
            case GetOnlineGroup(group):
                return self.online.get(group)
        return await super().ask(address, inquiry)


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture
async def brokers(database, clock):
    await register(database, clock, A)
    await register(database, clock, B, broker_group_name="broker-b")
    await register(database, clock, "10.0.0.3:10911", broker_id=1)
    return Progress()


@pytest.fixture
def measure(database, brokers, clock):
    async def ask():
        outcome = await measure_lags(database=database, brokers=brokers, clock=clock)
        page = await list_lags("east", size=100, after=None, database=database)
        rows = [
            (one.consumer_group_name, one.topic_name, one.queue_count, one.lag)
            for one in page.items
        ]
        return outcome, rows, [one.measured_at for one in page.items]

    return ask


async def test_lags_are_added_up_over_queues_and_broker_groups(measure):
    outcome, rows, _ = await measure()

    assert (outcome.measured_count, outcome.silent_count) == (2, 0)
    assert rows == [
        *(("audit", "orders", 1, 9), ("billing", "orders", 3, 7), ("billing", "refunds", 1, 0)),
    ]


async def test_a_lag_that_not_all_queues_reported_says_of_how_many_it_is(
    measure, brokers, database, clock
):
    for address, broker_group_name, count in ((A, "broker-a", 2), (B, "broker-b", 6)):
        topics = {"orders": QueueSettings(count, count, READ_WRITE)}
        await register(database, clock, address, broker_group_name=broker_group_name, topics=topics)
    del brokers.told[B]
    await measure()

    page = await list_lags("east", size=100, after=None, database=database)

    told = {
        (one.consumer_group_name, one.topic_name): (one.queue_count, one.topic_queue_count)
        for one in page.items
    }
    assert told == {("audit", "orders"): (1, 8), ("billing", "orders"): (2, 8)}


async def test_a_silent_master_leaves_its_last_report_with_its_instant(measure, brokers, clock):
    await measure()
    clock.advance(seconds=30)
    del brokers.told[B]
    brokers.told[A]["billing"] = [QueueProgress("orders", 0, 9, 9)]

    outcome, rows, instants = await measure()

    assert (outcome.measured_count, outcome.silent_count) == (1, 1)
    assert ("billing", "orders", 2, 3) in rows
    assert instants == [clock.now(), NOON, NOON]


async def test_a_run_that_is_cut_off_keeps_what_was_reported_before(
    measure, brokers, database, eventually
):
    brokers.slow = {B}
    running = asyncio.create_task(measure())

    async def is_kept():
        page = await list_lags("east", size=100, after=None, database=database)
        return {one.lag for one in page.items} == {9, 4}

    await eventually(is_kept)
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    "nonsense",
    [QueueProgress("orders", 0, 0, 2**70), QueueProgress("or\0ders", 0, 1, 4)],
    ids=["a lag", "a name"],
)
async def test_a_master_that_reports_what_no_row_holds_keeps_no_other_from_being_measured(
    measure, brokers, clock, nonsense
):
    await measure()
    clock.advance(seconds=30)
    brokers.told[A]["billing"] = [nonsense]
    brokers.told[B]["billing"] = [QueueProgress("refunds", 0, 1, 4)]

    outcome, rows, _ = await measure()

    assert (outcome.measured_count, outcome.silent_count) == (1, 1)
    # The master's last report stays, as that of a silent one.
    assert rows == [("audit", "orders", 1, 9), *_billing(orders=(2, 4), refunds=(1, 3))]


def _billing(**topics):
    return [("billing", name, *figures) for name, figures in topics.items()]


async def test_a_group_that_is_no_more_is_listed_no_more(measure, brokers):
    await measure()
    del brokers.told[A]["audit"]

    _, rows, _ = await measure()

    assert [row[0] for row in rows] == ["billing", "billing"]


async def test_pages_follow_one_another(measure, database):
    await measure()

    first = await list_lags("east", size=2, after=None, database=database)
    second = await list_lags("east", size=2, after=first.next_key, database=database)

    assert [len(first.items), len(second.items)] == [2, 1]
    assert (first.total_count, second.next_key) == (3, None)


@pytest.mark.usefixtures("brokers")
async def test_an_unknown_cluster_is_refused(database):
    with pytest.raises(ClusterNotFound):
        await list_lags("west", size=2, after=None, database=database)


async def test_what_expired_unread_is_recorded_beside_the_lag(measure, brokers, database):
    # Case B4: of a queue with an unknown begin no lag is recorded.
    brokers.told = {
        A: {
            "billing": [
                QueueProgress("orders", 0, 10, 301, begin=300),
                QueueProgress("orders", 1, 10, 301, begin=None),
            ]
        }
    }

    _, rows, _ = await measure()

    assert rows == [("billing", "orders", 1, 1)]
    page = await list_lags("east", size=100, after=None, database=database)
    assert [one.expired_count for one in page.items] == [290]


async def test_a_group_that_broadcasts_has_no_recorded_lag_whatever_offsets_are_left(
    measure, brokers
):
    # Case B5.
    brokers.online = {"billing": OnlineGroup((), {"orders": "*"}, is_broadcasting=True)}

    _, rows, _ = await measure()

    assert rows == [("audit", "orders", 1, 9)]
