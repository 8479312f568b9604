"""Times that brokers report, of which some are outside all calendars."""

from datetime import UTC, datetime

import pytest

from backend.domain.queue_lock import BrokerKey
from backend.domain.timer import BrokerTimers, HeldTimers, TimerSpan
from backend.domain.transaction import HeldTransaction, PendingTransaction
from backend.views.timers import BrokerTimersOut, TimerSpanOut
from backend.views.transactions import PendingTransactionOut

BROKER = BrokerKey("main", "broker-a", 0, "10.0.0.1:10911")
HOUR_MS = 1_700_002_800_000
IMPOSSIBLE = [2**62, -(2**62)]


@pytest.mark.parametrize("impossible_ms", IMPOSSIBLE)
def test_a_master_with_impossible_due_times_is_shown_without_them(impossible_ms):
    held = HeldTimers(
        waiting_count=2,
        untaken_count=0,
        behind_ms=0,
        hindrance=None,
        overdue_count=0,
        held_count=0,
        rolled_count=0,
        first_due_ms=HOUR_MS,
        last_due_ms=impossible_ms,
        minutes=(TimerSpan(impossible_ms, 1),),
        hours=(TimerSpan(HOUR_MS, 1), TimerSpan(impossible_ms, 1)),
        topics=(),
        topic_count=0,
    )

    shown = BrokerTimersOut.of(BrokerTimers(BROKER, held))

    at = datetime.fromtimestamp(HOUR_MS / 1000, UTC)
    assert (shown.first_due_at, shown.last_due_at) == (at, None)
    assert (shown.minutes, shown.hours) == ([], [TimerSpanOut(at, 1)])
    assert shown.waiting_count == 2


@pytest.mark.parametrize("impossible_ms", IMPOSSIBLE)
def test_a_transaction_whose_producer_names_an_impossible_time_is_shown_without_it(impossible_ms):
    held = HeldTransaction(
        first_offset=0,
        transaction_id="K",
        producer_group_name="pg",
        topic="orders",
        queue_id=0,
        born_ms=impossible_ms,
        age_ms=1,
        check_count=0,
        message_id="M",
        body_size=1,
        producer_count=0,
    )

    shown = PendingTransactionOut.of(PendingTransaction(BROKER, held))

    assert (shown.transaction_id, shown.born_at) == ("K", None)
