"""Rates between two samples: known ones right, unknown ones None, never zero (D21)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from backend.services.samples.observed import (
    ObservedQueue,
    ObservedSample,
    ObservedTopic,
    decode_sample,
    encode_sample,
)
from backend.services.samples.rates import has_rates, with_rates, without_rates


def sample(**values) -> ObservedSample:
    whole = {
        "cluster_name": "east",
        "broker_name": "broker-a",
        "broker_id": 0,
        "observed_at_ms": 1_000_000,
        "reported_at_ms": 1_000_000,
        "booted_at_ms": 500_000,
        "messages_in": 100,
        "bytes_in": 10_000,
        "messages_out": 50,
        "bytes_out": 5_000,
        "commit_log_min_position": 0,
        "commit_log_max_position": 10_000,
        "flushed_position": 10_000,
        "store_bytes": 10_000,
        "disk_total_bytes": 1_000_000,
        "disk_free_bytes": 500_000,
        "resident_bytes": 1_000,
        "cpu_seconds": 1.5,
        "topics": (
            ObservedTopic(
                "orders", messages_in=100, bytes_in=10_000, queues=(ObservedQueue(0, 0, 100),)
            ),
        ),
    }
    return ObservedSample(**{**whole, **values})


def five_seconds_later(**values) -> ObservedSample:
    return sample(**{"observed_at_ms": 1_005_040, "reported_at_ms": 1_005_000, **values})


def all_rates(observed: ObservedSample) -> list[float | None]:
    broker = [
        observed.messages_in_per_second,
        observed.messages_out_per_second,
        observed.bytes_in_per_second,
        observed.bytes_out_per_second,
    ]
    return broker + [
        rate
        for topic in observed.topics
        for rate in (topic.messages_in_per_second, topic.bytes_in_per_second)
    ]


def test_rates_are_differences_over_the_brokers_own_clock():
    later = five_seconds_later(
        messages_in=200,
        bytes_in=20_000,
        messages_out=50,
        bytes_out=5_500,
        topics=(ObservedTopic("orders", messages_in=150, bytes_in=10_500),),
    )

    rated = with_rates(later, sample())

    assert all_rates(rated) == [20.0, 0.0, 2_000.0, 100.0, 10.0, 100.0]


def test_the_first_sample_of_a_broker_has_no_rate():
    rated = with_rates(sample(), None)

    assert all_rates(rated) == [None] * 6
    assert not has_rates(rated)


def test_a_restart_leaves_every_rate_unknown():
    restarted = five_seconds_later(booted_at_ms=1_002_000, messages_in=500, bytes_in=50_000)

    rated = with_rates(restarted, sample())

    assert all_rates(rated) == [None] * 6


def test_a_counter_that_fell_has_no_rate_and_leaves_the_others_theirs():
    later = five_seconds_later(messages_in=99, bytes_in=10_500)

    rated = with_rates(later, sample())

    assert rated.messages_in_per_second is None
    assert rated.bytes_in_per_second == 100.0


def test_a_topic_seen_for_the_first_time_has_no_rate():
    later = five_seconds_later(topics=(ObservedTopic("new", messages_in=5, bytes_in=50),))

    rated = with_rates(later, sample())

    assert rated.topics[0].messages_in_per_second is None
    assert rated.messages_in_per_second == 0.0


@pytest.mark.parametrize("reported_at_ms", [1_000_000, 999_999, 1_060_001])
def test_no_interval_and_too_long_a_silence_give_no_rate(reported_at_ms):
    later = sample(reported_at_ms=reported_at_ms, messages_in=1_000)

    rated = with_rates(later, sample())

    assert all_rates(rated) == [None] * 6


def test_forgetting_rates_keeps_the_counters():
    rated = with_rates(five_seconds_later(messages_in=200), sample())

    forgotten = without_rates(rated)

    assert has_rates(rated)
    assert not has_rates(forgotten)
    assert forgotten.messages_in == 200


@given(before=st.integers(0, 2**60), after=st.integers(0, 2**60))
def test_a_rate_is_never_negative(before, after):
    rated = with_rates(five_seconds_later(bytes_in=after), sample(bytes_in=before))

    assert (rated.bytes_in_per_second is None) == (after < before)
    assert rated.bytes_in_per_second is None or rated.bytes_in_per_second >= 0


def test_a_sample_survives_its_json():
    rated = with_rates(five_seconds_later(messages_in=200), sample())

    assert decode_sample(encode_sample(rated)) == rated
    assert decode_sample(encode_sample(replace(rated, topics=()))).topics == ()
