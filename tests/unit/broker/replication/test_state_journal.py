"""What a broker knows is what its log says (D14)."""

import pytest
from regent_engine import StoreError

from backend.remoting.bodies import MessageQueue
from backend.remoting.names import STATE_TOPIC
from tests.unit.broker.replication.journaled import offsets_of, records
from workers.broker.replication import state_journal
from workers.broker.tables.consumer_offsets import ConsumerOffsetFile
from workers.broker.tables.queue_locks import LOCK_LIFE_MS

QUEUES = [MessageQueue(broker_name="b", queue_id=number, topic="T") for number in range(3)]


def test_a_master_says_all_there_is_and_then_what_changes(build):
    master = build(1)
    master.journal.lead(4)
    master.commit(7)
    master.commit(9)
    master.journal.write()
    master.journal.write()

    first, second = records(master)

    assert (first.epoch, first.is_snapshot, first.offsets) == (4, True, {})
    assert (second.is_snapshot, second.offsets) == (False, {"t@g": {0: 9}})


def test_a_replica_applies_what_is_confirmed_and_no_more(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.commit(5)
    master.journal.write()
    end = master.store.max_position
    master.commit(6)
    master.journal.write()
    replica.copy_from(master)
    replica.confirm(end)
    replica.journal.follow(1)

    replica.journal.catch_up()
    assert replica.find() == 5
    replica.confirm()
    replica.journal.catch_up()
    assert replica.find() == 6


def test_a_new_master_applies_what_no_client_sees_yet(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.commit(5)
    master.journal.write()
    replica.copy_from(master)
    replica.confirm(0)
    replica.journal.follow(1)
    replica.journal.catch_up()
    assert replica.find() is None

    replica.journal.lead(2)

    assert replica.find() == 5
    assert records(replica)[-1].offsets == {"t@g": {0: 5}}


def test_a_topic_that_was_deleted_has_no_offsets_after_a_failover(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    for topic in ("kept", "gone", "again"):
        master.commit(5, topic=topic)
    master.journal.write()
    for topic in ("gone", "again"):
        master.offsets.remove_topic(topic)
    master.commit(1, topic="again")
    master.journal.write()

    replica.copy_from(master)
    replica.journal.lead(2)

    assert offsets_of(replica) == {"kept@g": {0: 5}, "again@g": {0: 1}}


def test_what_a_master_took_and_never_said_is_gone_once_another_is_master(build):
    old, new = build(1), build(2)
    old.journal.lead(1)
    old.commit(5)
    old.journal.write()
    new.copy_from(old)
    old.commit(6)
    old.journal.stand_down()
    old.journal.follow(2)
    new.journal.lead(2)

    old.copy_from(new)
    old.confirm()
    old.journal.catch_up()

    assert (old.find(), new.find()) == (5, 5)


def test_a_log_that_was_cut_is_read_again(build):
    old, new = build(1), build(2)
    old.journal.lead(1)
    new.copy_from(old)
    common = old.store.max_position
    for offset in range(1, 5):
        old.commit(offset)
        old.journal.write()
    old.journal.stand_down()
    new.journal.lead(2)
    for offset in (3, 2):
        new.commit(offset, group="h")
        new.journal.write()

    old.journal.follow(2)
    old.store.truncate_to(common)
    old.journal.cut()
    old.copy_from(new)
    old.confirm()
    old.journal.catch_up()

    assert offsets_of(old) == offsets_of(new) == {"t@h": {0: 2}}


def test_commits_count_on_the_master_alone(build):
    broker = build(1)
    broker.commit(1)
    assert broker.find() is None
    broker.journal.lead(1)
    broker.commit(2)
    broker.journal.stand_down()
    broker.commit(3)

    assert broker.find() == 2


def test_a_restart_believes_the_log_and_not_a_file_that_is_older(build):
    broker = build(1)
    broker.journal.lead(1)
    broker.commit(5)
    broker.save()
    broker.commit(8)
    broker.journal.write()
    broker.kill()

    broker.open()

    assert broker.find() == 8


@pytest.mark.parametrize("has_been_in_log", [False, True])
def test_a_restart_believes_a_file_that_was_written_without_the_log(build, has_been_in_log):
    broker = build(1)
    broker.journal.lead(1)
    broker.commit(5)
    broker.journal.write()
    broker.save()
    if not has_been_in_log:
        # What stock, or a broker outside of controller mode, makes of it.
        for path in broker.config.iterdir():
            content = path.read_bytes().replace(b'"isInLog":true', b'"other":true')
            path.write_bytes(content.replace(b'{"0":5}', b'{"0":90}'))
    broker.kill()

    broker.open()
    assert broker.find() == (5 if has_been_in_log else 90)
    broker.journal.lead(2)

    assert broker.find() == (5 if has_been_in_log else 90)
    assert b'"isInLog":true' in broker.offsets.as_file()
    assert b"isInLog" not in broker.offsets.as_body()


def test_a_master_without_records_is_believed_by_what_it_answers(build):
    """A master of stock keeps its state elsewhere, and what the log says is older."""
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.commit(5)
    master.journal.write()
    replica.copy_from(master)
    replica.journal.follow(1)
    replica.confirm()
    replica.journal.follow(2)
    replica.journal.catch_up()
    assert replica.find() is None

    replica.offsets.adopt(ConsumerOffsetFile(offsets={"t@g": {0: 70}}))
    replica.journal.overrule()
    replica.journal.catch_up()
    assert b"isInLog" not in replica.offsets.as_file()
    replica.journal.lead(3)

    assert replica.find() == 70


def test_records_before_the_state_of_a_file_do_not_replace_it(build):  # I9
    """A replica that acted, and is not online yet after its restart, has newer offsets."""
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.commit(5)
    master.journal.write()
    replica.copy_from(master)
    replica.confirm()
    replica.offsets.adopt(ConsumerOffsetFile(offsets={"t@g": {0: 70}}))
    replica.journal.overrule()

    replica.journal.follow(1)
    replica.journal.catch_up()

    assert replica.find() == 70
    # What the master records from now on is newer.
    master.commit(80)
    master.journal.write()
    replica.copy_from(master)
    replica.confirm()
    replica.journal.catch_up()
    assert replica.find() == 80


def test_a_delivery_that_no_record_names_is_known_to_the_next_master(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.send()
    for level in (1, 2, 2):
        master.send_delayed(level)
    master.deliver_due(1)
    master.deliver_due(2)
    replica.copy_from(master)
    replica.confirm(0)

    replica.journal.lead(2)

    assert replica.delays.progress == {1: 1, 2: 2}
    replica.delays._correct(2)
    assert replica.delays.progress[2] == 2


def test_a_delivery_that_did_not_reach_the_next_master_is_made_by_it(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.send_delayed(1)
    replica.copy_from(master)
    master.deliver_due(1)
    replica.confirm()

    replica.journal.lead(2)
    replica.deliver_due(1)

    assert replica.store.offsets("later", 0) == (0, 0)
    assert replica.store.held_offsets("later", 0) == (0, 1)


def test_every_segment_of_the_log_has_all_there_is(build):
    master = build(1)
    master.journal.lead(1)
    master.commit(5)
    segments = set()
    while master.store.max_position < 5 * master.segment_size:
        master.send(body=b"x" * 3000)
        master.journal.write()

    snapshots = [
        appended.log_position
        for place, _, appended in master.store.appended
        if place[0] == STATE_TOPIC and b"snapshot" in place[3]
    ]

    segments = {position // master.segment_size for position in snapshots}
    assert segments == set(range(master.store.max_position // master.segment_size + 1))
    # What is left when all but the newest segment has gone.
    master.store.flush()
    while master.store.expire(0, is_forced=True).segment_count:
        pass
    low, _ = master.store.offsets(STATE_TOPIC, 0)
    assert low > 0
    master.journal.write()
    master.kill()
    master.open()
    assert master.find() == 5


def test_a_snapshot_that_spans_segments_is_said_again(build):
    master = build(1, settings={"maxMessageSize": "2000"})
    master.journal.lead(1)
    for number in range(300):
        master.commit(number, group=f"group-{number}")
    while master.store.max_position < master.segment_size - 3000:
        master.send(body=b"x" * 500)

    master.journal._needs_snapshot = True
    master.journal.write()

    placed = [a.log_position // master.segment_size for p, _, a in master.store.appended if p[3]]
    assert placed[-2:] == [0, 1]
    assert records(master)[-1].part_count > 3


def test_a_log_that_grows_is_never_silent_for_long(build, monkeypatch):
    monkeypatch.setattr(state_journal, "SILENCE_BYTES_MAX", 10_000)
    master = build(1)
    master.journal.lead(1)
    for _ in range(12):
        master.send(body=b"x" * 2000)
        master.journal.write()

    said = records(master)

    assert len(said) == 3
    assert not said[-1].offsets


def test_many_changes_are_summed_up(build, monkeypatch):
    monkeypatch.setattr(state_journal, "CHANGES_BYTES_MIN", 2000)
    master, replica = build(1, segment_size=4 << 20), build(2, segment_size=4 << 20)
    master.journal.lead(1)
    for offset in range(1500):
        master.commit(offset)
        master.journal.write()

    said = records(master)
    replica.copy_from(master)
    replica.confirm()
    replica.journal.follow(1)
    replica.journal.catch_up()

    assert sum(record.is_snapshot for record in said) > 50
    assert replica.find() == 1499


def test_half_a_snapshot_changes_nothing(build):
    settings = {"maxMessageSize": "2000"}
    master, replica, third = (build(number, settings=settings) for number in (1, 2, 3))
    master.journal.lead(1)
    master.commit(1, group="first")
    master.journal.write()
    replica.copy_from(master)
    third.copy_from(master)
    replica.journal.lead(2)
    # The last part of it does not arrive.
    for number in range(100):
        replica.commit(number, group=f"group-{number}")
    replica.journal._needs_snapshot = True
    replica.journal.write()
    last = replica.store.appended[-1][2].log_position
    third.copy_from(replica, end=last)
    third.confirm()
    third.journal.follow(2)
    third.journal.catch_up()
    assert offsets_of(third) == {"t@first": {0: 1}}

    third.journal.lead(3)

    assert offsets_of(third) == {"t@first": {0: 1}}
    third.kill()
    third.open()
    assert offsets_of(third) == {"t@first": {0: 1}}


def test_what_a_full_disk_refused_is_said_as_soon_as_it_takes_it(build):
    master = build(1)
    master.journal.lead(1)
    master.commit(5)
    append = master.store.append

    def refuse(*_arguments, **_fields):
        error = StoreError("no room")
        error.code = "disk_full"
        raise error

    master.store.append = refuse
    master.journal.write()
    master.commit(6, queue_id=1)
    master.store.append = append
    master.journal.write()

    assert records(master)[-1].offsets == {"t@g": {0: 5, 1: 6}}


def test_what_others_wrote_into_the_topic_is_passed_over(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.store.append(STATE_TOPIC, 0, b"\x07nonsense", b"")
    master.commit(5)
    master.journal._next += 1
    master.journal.write()

    replica.copy_from(master)
    replica.journal.lead(2)

    assert replica.find() == 5


def test_a_new_master_knows_who_holds_locks_and_for_how_long_again(build):  # I11
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.locks.lock("g", client_id="a", queues=QUEUES[:2], now_ms=master.now_ms)
    master.locks.lock("h", client_id="c", queues=QUEUES[:1], now_ms=master.now_ms)
    master.locks.unlock("h", client_id="c", queues=QUEUES)
    master.journal.write()
    replica.copy_from(master)
    replica.confirm(0)
    replica.journal.follow(1)
    replica.now_ms += 10 * LOCK_LIFE_MS
    replica.locks.sweep(replica.now_ms)

    replica.journal.lead(2)

    for group, held in (("g", QUEUES[:2]), ("h", [])):
        refused = replica.locks.lock(group, client_id="b", queues=QUEUES, now_ms=replica.now_ms)
        assert refused == [one for one in QUEUES if one not in held]
    assert records(replica)[-1].locks == {"g": {"0@T@b": "a", "1@T@b": "a"}}


def test_a_lock_that_ended_is_free_at_the_next_master_too(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.locks.lock("g", client_id="a", queues=QUEUES, now_ms=master.now_ms)
    master.journal.write()
    master.locks.sweep(master.now_ms + LOCK_LIFE_MS + 1)
    master.journal.write()

    replica.copy_from(master)
    replica.journal.lead(2)

    assert replica.locks.lock("g", client_id="b", queues=QUEUES, now_ms=replica.now_ms) == QUEUES
