"""Bytes a day from counters: restarts, midnights, first samples and gaps.

Each scenario is a separate cluster in one frame, so that Spark computes all of them at once.
"""

from collections import defaultdict
from datetime import date, timedelta

import pytest

from tests.integration.capacity.conftest import at
from workers.capacity.topic_days import topic_days

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

MARCH_2 = date(2026, 3, 2)
EARLIER = at("2026-02-01T00:00:00")


def sample(time: str, bytes_in: int, **values) -> dict:
    return {"observed_at": at(f"2026-03-{time}"), "bytes_in": bytes_in, **values}


SCENARIOS = {
    "steps": [
        sample("02T10:00:00", 1_000),
        sample("02T11:00:00", 1_500),
        sample("02T12:00:00", 1_700),
    ],
    "first sample": [sample("02T10:00:00", 1_000)],
    "new topic": [
        sample("02T00:00:00", 0, topic_name="other"),
        sample("02T12:00:00", 0, topic_name="other"),
        sample("02T12:00:00", 300),
    ],
    "restart": [
        sample("02T12:00:00", 1_000),
        sample("02T13:00:00", 2_000, booted_at=at("2026-03-02T12:30:00")),
    ],
    "a counter falls": [sample("02T12:00:00", 1_000), sample("02T13:00:00", 10)],
    "midnights": [sample("02T18:00:00", 0), sample("04T06:00:00", 1_001)],
    "whole day": [
        {"observed_at": at("2026-03-02T00:00:00") + timedelta(hours=hour), "bytes_in": hour * 100}
        for hour in range(25)
    ],
    "same group name": [sample("02T10:00:00", 7), sample("02T11:00:00", 12)],
    "failover": [
        sample("02T10:00:00", 1_000, own_id=1),
        sample("02T11:00:00", 1_500, own_id=1),
        sample("02T10:00:00", 9_000, own_id=2, broker_id=2, booted_at=EARLIER),
        sample("02T11:00:00", 9_500, own_id=2, broker_id=2, booted_at=EARLIER),
        sample("02T12:00:00", 9_530, own_id=2, booted_at=EARLIER),
        sample("02T13:00:00", 9_600, own_id=2, booted_at=EARLIER),
    ],
    "failover in old files": [
        sample("02T10:00:00", 1_000),
        sample("02T11:00:00", 1_500),
        sample("02T12:00:00", 9_530, booted_at=EARLIER),
        sample("02T12:00:00", 400, booted_at=EARLIER, topic_name="new there"),
        sample("02T13:00:00", 9_600, booted_at=EARLIER),
    ],
    "restart between two roles": [
        sample("02T10:00:00", 1_000, own_id=1),
        sample("02T13:00:00", 40, own_id=1, broker_id=1, booted_at=at("2026-03-02T12:00:00")),
    ],
}


@pytest.fixture(scope="module")
def found(frames) -> dict[str, dict]:
    rows = [
        {"cluster_name": cluster, "topic_name": "orders", **row}
        for cluster, rows in SCENARIOS.items()
        for row in rows
    ]
    identity = ("cluster_name", "broker_id", "own_id", "observed_at", "booted_at")
    brokers = {tuple(row.get(name) for name in identity): row for row in rows}
    days = topic_days(
        frames.topics(*rows),
        frames.brokers(
            *({k: row[k] for k in identity if k in row} for row in brokers.values()),
        ),
    )
    by_scenario: dict[str, dict] = defaultdict(dict)
    for row in days.collect():
        broker = f" / {row['broker_id']}" if row["broker_id"] else ""
        topic = "" if row["topic_name"] == "orders" else f" of {row['topic_name']}"
        scenario = by_scenario[f"{row['cluster_name']}{broker}{topic}"]
        scenario[row["day"]] = (row["bytes"], row["note"])
    return by_scenario


def test_a_counter_gives_the_difference_between_its_samples(found):
    assert found["steps"] == {MARCH_2: (700, "covers 8.3 % of the day")}


def test_the_first_sample_of_a_broker_counts_no_messages(found):
    assert found["first sample"] == {}


def test_a_topic_new_on_a_known_broker_is_included_whole(found):
    assert found["new topic"] == {MARCH_2: (300, "covers 50.0 % of the day")}


def test_after_a_restart_the_counter_itself_is_what_was_written(found):
    assert found["restart"] == {
        MARCH_2: (2_000, "covers 2.1 % of the day; at least: counters began again 1 times")
    }


def test_a_counter_that_falls_without_a_restart_began_again(found):
    [(written, note)] = found["a counter falls"].values()

    assert written == 10
    assert "began again" in note


def test_a_step_over_midnights_is_shared_out_by_time(found):
    shares = [written for _, (written, _) in sorted(found["midnights"].items())]

    assert shares == [166, 668, 167]
    assert sum(shares) == 1_001


def test_a_wholly_observed_day_has_no_note_and_ends_at_midnight(found):
    assert found["whole day"] == {MARCH_2: (2_400, None)}


def test_groups_of_one_name_in_two_clusters_are_two(found):
    [(written, _)] = found["same group name"].values()

    assert written == 5


def test_a_topic_is_summed_up_under_one_name_of_a_broker_through_a_failover(found):
    # Case B2: under ids 0 and 2 it was two brokers', and id 0 that of two brokers.
    assert found["failover"] == {}
    assert found["failover / 1"] == {MARCH_2: (500, "covers 4.2 % of the day")}
    assert found["failover / 2"] == {MARCH_2: (500 + 30 + 70, "covers 12.5 % of the day")}


def test_a_process_that_booted_before_the_sample_before_it_is_no_restart(found):
    assert found["failover in old files"] == {MARCH_2: (500 + 70, "covers 8.3 % of the day")}
    assert found["failover in old files of new there"] == {}


def test_a_restart_between_two_roles_leaves_one_broker(found):
    assert found["restart between two roles"] == {}
    [(written, note)] = found["restart between two roles / 1"].values()
    assert written == 40
    assert "began again" in note
