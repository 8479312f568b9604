import pytest

from backend.domain.errors import InvalidTopicSettings
from backend.domain.topic import QueueSettings, TopicKind, check_topic, topic_kind


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
