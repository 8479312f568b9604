import itertools
import json

import pytest

from backend.remoting.java_json import decode
from backend.remoting.sifting import left_out_of
from workers.broker.configuration.settings import parse_settings
from workers.broker.errors import Refusal
from workers.broker.tables.topics import (
    TopicFile,
    TopicTable,
    decode_topic_file,
    system_topics,
    topic_from_template,
    topic_of,
)


def table(stored=None):
    changes = []
    now_ms = itertools.count(10, 10)
    topics = TopicTable(
        stored,
        listener=lambda name, topic: changes.append((name, topic)),
        clock=lambda: next(now_ms),
    )
    return topics, changes


def test_every_change_moves_the_version_and_is_reported():
    topics, changes = table()

    assert topics.put(topic_of("T", 4))
    assert not topics.put(topic_of("T", 4))
    assert topics.put(topic_of("T", 8))
    assert topics.remove("T")
    assert not topics.remove("T")

    assert [name for name, _ in changes] == ["T", "T", "T"]
    assert changes[-1][1] is None
    assert (topics.data_version.counter, topics.data_version.timestamp_ms) == (3, 30)


def test_a_stored_table_is_registered_at_the_start_and_goes_on_from_its_version():
    first, _ = table()
    first.put(topic_of("T", 4))

    second, changes = table(decode(first.as_file(), TopicFile))

    assert changes == [("T", topic_of("T", 4))]
    assert second.data_version == first.data_version
    assert second.find("T") == topic_of("T", 4)


def test_the_file_has_the_stock_members():
    topics, _ = table()
    topics.put(topic_of("T", 4))

    assert set(json.loads(topics.as_file())) == {"dataVersion", "topicConfigTable"}


@pytest.mark.parametrize(("wished", "queues"), [(4, 4), (100, 8), (0, 0), (-3, 0)])
def test_a_first_send_gets_what_it_wishes_within_the_template(wished, queues):
    template = topic_of("TBW102", 8, 7)

    topic = topic_from_template("T", template, wished)

    assert (topic.read_queue_count, topic.write_queue_count, topic.permissions) == (
        queues,
        queues,
        6,
    )


def test_a_template_that_does_not_pass_on_creates_nothing():
    assert topic_from_template("T", topic_of("TBW102", 8, 6), 4) is None


def test_the_template_passes_on_only_where_first_sends_may_create():
    closed = parse_settings({"autoCreateTopicEnable": "false", "brokerName": "b"}).settings

    permissions = {topic.name: topic.permissions for topic in system_topics(closed)}

    assert permissions["TBW102"] == 6


def test_the_schedule_topic_has_a_queue_for_each_level():
    levels = " ".join(["1s"] * 30)
    settings = parse_settings({"messageDelayLevel": levels, "brokerName": "b"}).settings

    counts = {topic.name: topic.write_queue_count for topic in system_topics(settings)}

    assert counts["SCHEDULE_TOPIC_XXXX"] == 30


def test_a_topic_of_the_file_that_no_broker_can_serve_stays_in_the_file_and_is_no_topic():
    # Case A5.
    odd = {"topicName": "odd", "readQueueNums": 70_000, "perm": 6}
    content = {
        "dataVersion": {"counter": 3},
        "topicConfigTable": {"good": {"topicName": "good"}, "odd": odd, "worse": {"perm": "x"}},
    }

    file, left_out = decode_topic_file(json.dumps(content).encode())
    topics = TopicTable(file, listener=lambda *_: None, left_out=left_out, clock=lambda: 1)
    topics.put(topic_of("new", 1))

    written = json.loads(topics.as_file())["topicConfigTable"]
    assert set(written) == {"good", "odd", "worse", "new"}
    assert (written["odd"]["readQueueNums"], written["worse"]) == (70_000, {"perm": "x"})
    assert {one.name for one in topics.all()} == {"good", "new"}
    with pytest.raises(Refusal, match="70000; 0 to 65535"):
        topics.check_not_left_out("odd")


def test_a_topic_that_was_left_out_is_mended_by_a_change_and_gone_by_a_deletion():
    # Case A5.
    left_out = [left_out_of(("topicConfigTable", name), "no", {}) for name in ("a", "b")]
    topics = TopicTable(None, listener=lambda *_: None, left_out=left_out, clock=lambda: 1)
    version = topics.data_version.counter

    topics.put(topic_of("a", 1))
    assert topics.remove("b")

    assert topics.left_out == ()
    assert topics.data_version.counter == version + 2
    assert set(json.loads(topics.as_file())["topicConfigTable"]) == {"a"}


def test_of_the_topics_of_a_master_only_the_odd_topic_is_left_out():
    # Cases A3 and A4: a record of the log, or a table of stock's.
    topics, _ = table()
    topics.put(topic_of("was-good", 1))
    odd = topic_of("was-good", 1, topic_sys_flag=-1)

    topics.apply({"was-good": odd, "other": topic_of("other", 2)})

    assert [one.name for one in topics.all()] == ["other"]
    assert (
        topics.find_left_out("was-good").reason == "topicSysFlag is -1; 0 to 2147483647 is allowed"
    )
