from types import SimpleNamespace

import pytest

from workers.broker.metrics.tally import MINUTE
from workers.broker.metrics.traffic import Figures, Traffic

COUNTERS = SimpleNamespace(topics={"T": (10, 2_000), "Gone": (5, 500)})


@pytest.fixture
def traffic():
    """Two seconds after a start: 10 messages stored, 6 of them read by one group in 2 pulls."""
    traffic = Traffic(0)
    traffic.pulled("g", "T", pulls=2, messages=6, size_bytes=1_200)
    traffic.sent_back("g", "T")
    traffic.refresh(
        2_000,
        COUNTERS,
        is_known=lambda name: name != "Gone",
        cluster_name="C",
        whole=(10, 2, 6),
    )
    return traffic


@pytest.mark.parametrize(
    ("name", "key", "figures"),
    [
        ("TOPIC_PUT_NUMS", "T", Figures(10, 5.0, 1.0)),
        ("TOPIC_PUT_SIZE", "T", Figures(2_000, 1_000.0, 200.0)),
        ("GROUP_GET_NUMS", "T@g", Figures(6, 3.0, 3.0)),
        ("GROUP_GET_SIZE", "T@g", Figures(1_200, 600.0, 600.0)),
        ("SNDBCK_PUT_NUMS", "T@g", Figures(1, 0.5, 1.0)),
        ("BROKER_PUT_NUMS", "C", Figures(10, 5.0, 1.0)),
        ("BROKER_GET_NUMS", "C", Figures(6, 3.0, 3.0)),
    ],
)
def test_each_name_of_stocks_has_its_sum_its_rate_and_its_average(traffic, name, key, figures):
    assert traffic.find(name, key, MINUTE, 2_000) == figures


@pytest.mark.parametrize(
    ("name", "key"),
    [("TOPIC_PUT_NUMS", "Other"), ("TOPIC_PUT_NUMS", "Gone"), ("NO_SUCH_NAME", "T")],
)
def test_what_was_never_counted_is_unknown_and_not_zero(traffic, name, key):
    assert traffic.find(name, key, MINUTE, 2_000) is None


def test_a_rate_over_no_time_is_no_division_by_zero():
    traffic = Traffic(0)
    traffic.pulled("g", "T", pulls=1, messages=1, size_bytes=1)

    assert traffic.read_rate("g", "T", 0) == 0.0
    assert traffic.read_rate("other", "T", 0) == 0.0


def test_counts_go_with_their_topic_or_their_group(traffic):
    traffic.pulled("g", "U", pulls=1, messages=1, size_bytes=1)
    traffic.pulled("h", "T", pulls=1, messages=1, size_bytes=1)

    traffic.forget_group("g")
    of_other_group = traffic.find("GROUP_GET_NUMS", "T@h", MINUTE, 2_000)
    traffic.forget_topic("T")

    assert of_other_group is not None
    for name, key in (
        ("TOPIC_PUT_NUMS", "T"),
        ("GROUP_GET_NUMS", "T@g"),
        ("GROUP_GET_NUMS", "T@h"),
        ("GROUP_GET_NUMS", "U@g"),
        ("SNDBCK_PUT_NUMS", "T@g"),
    ):
        assert traffic.find(name, key, MINUTE, 2_000) is None
