"""The console says the limits of an order before it asks; they are those of the control plane."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from backend.domain.orders.broker import DrainBroker
from backend.domain.orders.consumer_group import CreateConsumerGroup
from backend.domain.orders.parameter import fields_of
from backend.domain.orders.topic import CreateTopic
from backend.rules import consumer_group, topic

ROOT = Path(__file__).resolve().parents[2]
LIMITS = ROOT / "frontend" / "src" / "features" / "orders" / "limits.json"


def limit_of(order: type[Any], name: str, limit: str) -> Any:
    """Read a limit of an order's parameter off its type."""
    [found] = [one for one in fields_of(order) if one.name == name]
    return getattr(found.about.bounds, limit)


@pytest.fixture(scope="module")
def told() -> dict[str, int]:
    return json.loads(LIMITS.read_text())


def test_the_console_tells_the_limits_that_the_control_plane_checks(told: dict[str, int]) -> None:
    group = CreateConsumerGroup

    assert told == {
        "topicNameLengthMax": topic.CREATED_NAME_LENGTH_MAX,
        "groupNameLengthMax": consumer_group.CREATED_NAME_LENGTH_MAX,
        "queueCountMax": limit_of(CreateTopic, "read_queue_count", "high"),
        "retryCountMin": limit_of(group, "retry_count_max", "low"),
        "retryCountMax": limit_of(group, "retry_count_max", "high"),
        "retryQueueCountMax": limit_of(group, "retry_queue_count", "high"),
        "consumeTimeoutMinutesMin": limit_of(group, "consume_timeout_minutes", "low"),
        "consumeTimeoutMinutesMax": limit_of(group, "consume_timeout_minutes", "high"),
        "waivedGroupsMax": limit_of(DrainBroker, "waived_groups", "count_max"),
    }


def test_write_queues_have_the_limits_of_read_queues() -> None:
    ranges = [
        (limit_of(CreateTopic, name, "low"), limit_of(CreateTopic, name, "high"))
        for name in ("read_queue_count", "write_queue_count")
    ]

    assert ranges[0] == ranges[1]
    assert {"read_queue_count", "write_queue_count"} <= {one.name for one in fields(CreateTopic)}
