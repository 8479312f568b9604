import pytest

from backend.domain.errors import InvalidTopicSettings
from backend.domain.topic import (
    QueueSettings,
    TopicKind,
    check_topic,
    kept_attributes,
    topic_kind,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("orders", TopicKind.NORMAL),
        ("%RETRY%g", TopicKind.RETRY),
        ("%DLQ%g", TopicKind.DEAD_LETTER),
        ("TBW102", TopicKind.SYSTEM),
        ("rmq_sys_wheel_timer", TopicKind.SYSTEM),
        ("main", TopicKind.SYSTEM),
        ("main_REPLY_TOPIC", TopicKind.SYSTEM),
        ("broker-a", TopicKind.SYSTEM),
        ("other_REPLY_TOPIC", TopicKind.NORMAL),
    ],
)
def test_a_name_shows_what_a_topic_is_for(name, kind):
    assert topic_kind(name, cluster_name="main", broker_group_names={"broker-a"}) is kind


def test_of_the_attributes_of_a_topic_those_are_kept_that_are_shown_and_allowed():
    registered = {
        "share.mode": "SHARED",
        "message.type": "FIFO",
        "replicate": "FALSE",
        "share.timeShare": "\0",
        "lq.endedQueues": "0:1:2",
        "of.a.later.release": "1",
    }

    kept = kept_attributes(registered)

    assert kept == (("message.type", "FIFO"), ("replicate", "FALSE"), ("share.mode", "SHARED"))
    settings = QueueSettings(1, 1, 6, attributes=kept)
    assert (settings.message_type, settings.share_mode) == ("FIFO", "SHARED")
    assert (settings.is_replicated, settings.is_time_shared) == (False, False)
    assert kept_attributes({"share.mode": "ANY"}) == kept_attributes({}) == ()


def test_a_topic_without_attributes_is_replicated_and_the_master_owns_its_share_queues():
    settings = QueueSettings(1, 1, 6)

    assert (settings.message_type, settings.share_mode) == (None, "PRIMARY")
    assert (settings.is_replicated, settings.is_time_shared) == (True, False)


def test_permissions_are_read_by_bits():
    settings = QueueSettings(1, 1, 7)

    assert (settings.is_readable, settings.is_writable, settings.is_inherited) == (True, True, True)
    assert settings.without_write().permissions == 5


@pytest.mark.parametrize(
    "settings",
    [
        QueueSettings(-1, 1, 6),
        QueueSettings(1, 65_536, 6),
        QueueSettings(1, 1, 16),
        QueueSettings(1, 1, -1),
        QueueSettings(1, 1, 6, topic_sys_flag=1 << 31),
    ],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidTopicSettings):
        check_topic("orders", settings)
