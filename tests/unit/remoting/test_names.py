import pytest

from backend.remoting import names
from backend.remoting.names import InvalidName, check_consumer_group_name, check_topic_name


@pytest.mark.parametrize("name", ["T", "a-b_c%d|e", "x" * 127, "%RETRY%" + "g" * 248, "%DLQ%g"])
def test_stock_topic_names_are_accepted(name):
    check_topic_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a/b", "..", "a.b", "a\0", "x" * 128, "%RETRY%" + "g" * 249, "ü", "a b", "a\n"),
        "%LMQ%light",
    ],
)
def test_other_topic_names_are_refused(name):
    with pytest.raises(InvalidName):
        check_topic_name(name)


def test_group_names_are_shorter():
    check_consumer_group_name("g" * 120)

    with pytest.raises(InvalidName, match="longer than 120"):
        check_consumer_group_name("g" * 121)


def test_derived_names_carry_their_prefix():
    assert names.retry_topic("g") == "%RETRY%g"
    assert names.dead_letter_topic("g") == "%DLQ%g"
    assert names.reply_topic("c") == "c_REPLY_TOPIC"


def test_system_topics_are_known_by_name_and_by_prefix():
    assert names.is_system_topic("TBW102")
    assert names.is_system_topic("rmq_sys_wheel_timer")
    assert not names.is_system_topic("TopicTest")
