"""Messages for a time, over the ends of masters: each is delivered once, none before its time."""

import random
import shutil
import time

import pytest
from regent_engine import decode_records, encode_properties

from backend.remoting.names import TIMER_TOPIC
from tests.long_form import few
from tests.unit.broker.replication.journaled import JournaledBroker, records
from workers.broker.commit_log import timer_delivery

STEP_MS = 1000
START_MS = time.time_ns() // 1_000_000 // STEP_MS * STEP_MS


def wait_for(broker, slot_ms, body, queue_id=0):
    properties = {"TIMER_OUT_MS": str(slot_ms), "REAL_TOPIC": "later", "REAL_QID": str(queue_id)}
    broker.store.append(TIMER_TOPIC, 0, body, encode_properties(properties))


def take_turn(broker, count=256):
    """Do what the thread does once; return whether a batch was due."""
    broker.store.follow_timers(4)
    due = broker.store.due_timers(broker.now_ms, count, 1 << 20)
    if due is not None:
        broker.timers.deliver(due)
    return due is not None


def deliver_all(broker):
    idle_count = 0
    while idle_count < 50:
        idle_count = 0 if take_turn(broker) else idle_count + 1
        broker.journal.write()


def take_turns(broker, count):
    for _ in range(count):
        take_turn(broker)
        broker.journal.write()


def delivered(broker, queue_ids=(0, 1)):
    found = []
    for queue_id in queue_ids:
        _, end = broker.store.held_offsets("later", queue_id) or (0, 0)
        entries = broker.store.held_entries("later", queue_id, 0, end)
        found += [decode_records(broker.store.held_record(at))[0].body for at, _, _ in entries]
    return found


def end_and_lead(broker, epoch, gone):
    """Kill a master, and have a broker lead that holds its log and not all of its files."""
    broker.kill()
    for name in gone:
        shutil.rmtree(broker.path / name, ignore_errors=True)
    broker.open()
    broker.journal.lead(epoch)
    broker.timers.start()


@pytest.mark.parametrize("seed", few(range(40), 6))
def test_each_message_is_delivered_once_and_in_time_under_any_master(tmp_path, seed):
    # The progress is in the log with what was delivered (D14).
    source = random.Random(seed)
    broker = JournaledBroker(tmp_path, now_ms=START_MS, segment_size=1 << 20)
    broker.journal.lead(1)
    broker.timers.start()
    slots = {}
    for epoch in range(2, 8):
        for _ in range(source.randrange(4, 30)):
            match source.randrange(6):
                case 0 | 1:
                    body = b"%d" % len(slots)
                    # A broker rounds the time of a message when it stores the message.
                    step = broker.now_ms // STEP_MS + source.randrange(-2, 6)
                    slots[body] = step * STEP_MS
                    wait_for(broker, slots[body], body, queue_id=source.randrange(2))
                case 2:
                    take_turn(broker, count=source.randrange(1, 4))
                case 3:
                    broker.journal.write()
                case 4:
                    broker.now_ms += source.randrange(0, 2500)
                case 5:
                    broker.closed_queues ^= {1}
            early = [body for body in delivered(broker) if slots[body] + STEP_MS > broker.now_ms]
            assert not early
        end_and_lead(broker, epoch, source.choice([(), ("timerlog",), ("timerlog", "config")]))

    broker.now_ms += 60_000
    broker.closed_queues.clear()
    deliver_all(broker)

    assert sorted(delivered(broker)) == sorted(slots)
    assert not broker.store.due_timers(broker.now_ms, 1, 1)


def act(broker, source, escaped):
    """Let the broker act: of what comes into its outbox, some messages find a target."""

    def escape(messages):
        for position, topic, _ in messages:
            if source.randrange(2) and position not in broker.state.escaped:
                assert topic == "later"
                broker.state.escaped.add(position)
                (record,) = decode_records(broker.store.held_record(position))
                escaped.append(record.body)

    broker.timers.escape_by(escape)
    broker.timers.start()


@pytest.mark.parametrize("seed", few(range(40), 6))
def test_a_returning_master_delivers_once_what_did_not_escape(tmp_path, seed):  # D14, D17, I13
    source = random.Random(seed)
    broker = JournaledBroker(tmp_path, now_ms=START_MS, segment_size=1 << 20)
    broker.journal.lead(1)
    broker.timers.start()
    slots, escaped = {}, []
    for number in range(20):
        slots[b"%d" % number] = START_MS + STEP_MS * source.randrange(-2, 6)
        wait_for(broker, slots[b"%d" % number], b"%d" % number, queue_id=source.randrange(2))
        if source.randrange(3) == 0:
            take_turns(broker, 1)
    broker.kill()
    broker.open()
    end = broker.store.max_position

    act(broker, source, escaped)
    for _ in range(source.randrange(40)):
        broker.now_ms += source.randrange(0, 500)
        take_turn(broker, count=source.randrange(1, 4))
        early = [body for body in escaped if slots[body] + STEP_MS > broker.now_ms]
        assert not early
    assert broker.store.max_position == end
    taken = broker.state.escaped.sorted()
    broker.kill()
    broker.open()
    broker.journal.lead(2)
    broker.state.escaped.take_over(taken)
    broker.journal.write()
    broker.timers.start()
    take_turns(broker, source.randrange(8))
    # The log has what was taken over, and the next master does not ask.
    end_and_lead(broker, 3, ())
    broker.now_ms += 60_000
    deliver_all(broker)

    assert sorted([*delivered(broker), *escaped]) == sorted(slots)
    assert not broker.state.escaped


def test_a_message_that_was_recalled_at_a_replica_is_not_delivered(tmp_path):
    broker = JournaledBroker(tmp_path, now_ms=START_MS)
    broker.journal.lead(1)
    broker.timers.start()
    wait_for(broker, START_MS, b"recalled")
    wait_for(broker, START_MS, b"wanted")
    (position, _, _), _ = broker.store.held_entries(TIMER_TOPIC, 0, 0, 2)
    broker.state.escaped.take_over([position])
    broker.journal.write()
    end_and_lead(broker, 2, ())

    broker.now_ms += 2 * STEP_MS
    deliver_all(broker)

    assert delivered(broker) == [b"wanted"]
    assert position not in broker.state.escaped


def test_nothing_is_delivered_before_the_log_says_where_deliveries_begin(tmp_path):
    broker = JournaledBroker(tmp_path, now_ms=START_MS)
    broker.journal.lead(1)
    broker.timers.start()
    wait_for(broker, START_MS - STEP_MS, b"m")

    take_turn(broker)
    before = delivered(broker)
    broker.journal.write()
    take_turn(broker)

    assert before == []
    assert delivered(broker) == [b"m"]
    assert records(broker)[-1].timers is not None


def test_messages_pass_those_of_a_queue_that_takes_none_and_a_record_repeats_the_progress(tmp_path):
    broker = JournaledBroker(tmp_path, now_ms=START_MS, closed_queues={1})
    broker.journal.lead(1)
    broker.timers.start()
    wait_for(broker, START_MS - 2 * STEP_MS, b"held", queue_id=1)
    wait_for(broker, START_MS - STEP_MS, b"passes")
    take_turn(broker)
    broker.journal.write()
    before = records(broker)[-1].timers

    take_turns(broker, 20)
    passed = delivered(broker)
    # Another change makes a record, which has a progress.
    broker.offsets.commit("g", "T", queue_id=0, offset=5)
    broker.journal.write()
    repeated = records(broker)[-1].timers
    broker.closed_queues.clear()
    deliver_all(broker)

    assert passed == [b"passes"]
    assert repeated == before
    assert delivered(broker, [1]) == [b"held"]
    assert records(broker)[-1].timers > before


def test_no_more_than_a_part_of_the_log_is_written_while_messages_are_held(tmp_path, monkeypatch):
    monkeypatch.setattr(timer_delivery, "HELD_BYTES_MAX", 1)
    broker = JournaledBroker(tmp_path, now_ms=START_MS, closed_queues={1})
    broker.journal.lead(1)
    broker.timers.start()
    wait_for(broker, START_MS - 2 * STEP_MS, b"holds up", queue_id=1)
    wait_for(broker, START_MS - STEP_MS, b"waits")

    take_turns(broker, 20)
    waiting = delivered(broker)
    broker.closed_queues.clear()
    deliver_all(broker)

    assert waiting == []
    assert delivered(broker) == [b"waits", b"holds up"]


def test_a_broker_that_stood_down_delivers_nothing_more(tmp_path):
    broker = JournaledBroker(tmp_path, now_ms=START_MS)
    broker.journal.lead(1)
    broker.timers.start()
    wait_for(broker, START_MS - STEP_MS, b"m")
    take_turn(broker)
    broker.journal.write()
    broker.store.follow_timers(4)
    due = broker.store.due_timers(START_MS, 1, 1)

    broker.timers.stop()

    assert not broker.timers.deliver(due)
    assert delivered(broker) == []


def test_the_progress_of_a_stock_master_is_taken_over(tmp_path):
    broker = JournaledBroker(tmp_path, now_ms=START_MS)
    for body in (b"old", b"new"):
        wait_for(broker, START_MS - (5 if body == b"old" else 2) * STEP_MS, body)
    checkpoint = b"".join(
        number.to_bytes(8, "big") for number in (START_MS - 3 * STEP_MS, 0, 2, 2, 0, 0, 0)
    )

    broker.timers.adopt(checkpoint)
    broker.journal.lead(1)
    broker.timers.start()
    deliver_all(broker)

    assert delivered(broker) == [b"new"]
