"""Topics, groups, fences and deletions of a group are what its log says (D14, I16)."""

import msgspec
from regent_engine import StoreError

from backend.remoting.names import STATE_TOPIC
from tests.unit.broker.replication.journaled import known_of, records
from workers.broker.replication.state_record import SNAPSHOT_PROPERTIES


def test_topics_that_a_file_of_stock_does_not_name_stay_all_the_same(build):  # I16
    broker = build(1)
    broker.journal.lead(1)
    for name in ("logged", "deleted", "both"):
        broker.put_topic(name)
    broker.put_group("g", 3)
    broker.journal.write()
    broker.save()
    broker.journal.stand_down()
    for name in ("logged", "deleted"):
        broker.topics.remove(name)
    broker.groups.remove("g")
    broker.put_topic("both", 7)
    broker.put_topic("filed")
    for table, name in ((broker.topics, "topics.json"), (broker.groups, "subscriptionGroup.json")):
        table.is_in_log = False
        (broker.config / name).write_bytes(table.as_file())
    broker.kill()

    broker.open()
    broker.journal.lead(2)

    assert known_of(broker)["topics"] == {"logged": 1, "both": 7, "filed": 1, "deleted": 1}
    assert known_of(broker)["groups"] == {"g": 3}


def test_a_snapshot_of_before_topics_travelled_leaves_them_as_they_are(build):
    broker = build(1)
    broker.journal.lead(1)
    broker.put_topic("t")
    broker.journal.stand_down()
    old = b"\x01" + msgspec.msgpack.encode([2, 0, 1, [], {"t@g": {0: 3}}, {}])
    broker.store.append(STATE_TOPIC, 0, old, SNAPSHOT_PROPERTIES)
    broker.confirm()

    broker.journal.follow(2)
    broker.journal.catch_up()

    assert known_of(broker)["topics"] == {"t": 1}
    assert broker.find() == 3


def test_what_is_being_deleted_keeps_its_messages_until_that_is_confirmed(build):
    broker = build(1)
    broker.journal.lead(1)
    broker.put_topic("t")
    broker.send()
    broker.confirm()
    broker.delete_topic("t")
    broker.journal.write()

    broker.deletions.remove_confirmed()
    assert broker.deletions.is_pending("t")
    assert broker.store.held_offsets("t", 0) == (0, 1)
    broker.confirm()
    broker.deletions.remove_confirmed()

    assert not broker.deletions.is_pending("t")
    assert broker.store.held_offsets("t", 0) is None


def test_a_deletion_that_the_store_refuses_is_made_as_soon_as_it_can_be(build):
    broker = build(1)
    broker.journal.lead(1)
    broker.put_topic("t")
    broker.send()
    broker.delete_topic("t")
    broker.journal.write()
    broker.confirm()

    def refuse(*_arguments, **_fields):
        raise StoreError("no")

    broker.store.delete_topic = refuse
    broker.deletions.remove_confirmed()
    assert broker.deletions.is_pending("t")
    del broker.store.delete_topic
    broker.deletions.remove_confirmed()

    assert broker.store.held_offsets("t", 0) is None


def test_a_deletion_is_recorded_as_long_as_the_log_holds_what_lies_before_it(build):
    master = build(1)
    master.journal.lead(1)
    master.put_topic("t")
    master.delete_topic("t")
    master.journal.write()
    master.confirm()
    master.deletions.remove_confirmed()
    while master.store.max_position < 2 * master.segment_size:
        master.send("other", b"x" * 3000)
        master.journal.write()
    assert "t" in records(master)[-1].deletions

    master.store.flush()
    while master.store.expire(0, is_forced=True).segment_count:
        pass
    master.journal._needs_snapshot = True
    master.journal.write()

    assert not records(master)[-1].deletions


async def test_a_begun_change_is_in_the_log_before_what_it_changes(build):
    master, replica = build(1), build(2)
    master.journal.lead(1)
    await master.change("topic t", "step", 5)
    master.put_topic("t")
    end = master.store.max_position
    await master.change("topic t", "step", 5, after={"queues": 1})
    master.journal.write()

    replica.copy_from(master, end=end)
    replica.journal.lead(2)

    assert replica.fences.fences == {"topic t": 5}
    assert not replica.fences.changes["step"].is_made
    assert replica.topics.find("t") is not None


def test_a_promoted_replica_has_the_mapping_and_the_seal_of_its_master(build):  # L48
    master, replica = build(1), build(2)
    master.journal.lead(1)
    master.put_topic("t")
    mapping = master.put_mapping("t")
    master.journal.write()
    master.confirm()

    replica.copy_from(master)
    replica.confirm()
    replica.journal.lead(2)

    assert replica.state.static_topics.all == {"t": mapping}


def test_a_mapping_that_is_removed_is_removed_from_the_log_too(build):
    broker = build(1)
    broker.journal.lead(1)
    kept = [broker.put_mapping(name) for name in ("t", "u")][1]
    broker.journal.write()
    broker.state.static_topics.remove("t")
    broker.journal.write()
    broker.kill()

    broker.open()

    assert dict(broker.state.static_topics.all) == {"u": kept}


def test_a_snapshot_of_before_static_topics_leaves_them_as_they_are(build):
    broker = build(1)
    broker.journal.lead(1)
    mapping = broker.put_mapping("t")
    broker.journal.stand_down()
    old = b"\x01" + msgspec.msgpack.encode([2, 0, 1, [], {}, {}, [], {}, {}, {}, {}, {}, {}])
    broker.store.append(STATE_TOPIC, 0, old, SNAPSHOT_PROPERTIES)
    broker.confirm()

    broker.journal.follow(2)
    broker.journal.catch_up()

    assert dict(broker.state.static_topics.all) == {"t": mapping}


def test_positions_on_a_queue_that_is_used_again_are_dropped_everywhere(build):  # L35, H-16
    broker = build(1)
    broker.journal.lead(1)
    for queue_id in (0, 1):
        broker.offsets.commit("g", "t", queue_id=queue_id, offset=5)
    broker.journal.write()
    broker.offsets.remove_queue("t", 0)
    broker.offsets.commit("h", "t", queue_id=0, offset=9)
    broker.journal.write()
    broker.kill()

    broker.open()

    assert [broker.offsets.find("g", "t", queue_id) for queue_id in (0, 1)] == [None, 5]
    assert broker.offsets.find("h", "t", 0) == 9
