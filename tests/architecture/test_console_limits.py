"""The console says the limits of an order before it asks; they are those of the control plane."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest

from backend.rules import consumer_group, topic
from backend.services.operations.create_consumer_group import CreateConsumerGroup
from backend.services.operations.create_topic import CreateTopic
from backend.services.operations.drain_broker import DrainBroker

ROOT = Path(__file__).resolve().parents[2]
LIMITS = ROOT / "frontend" / "src" / "features" / "orders" / "limits.json"


def limit_of(order: type[Any], name: str, limit: str) -> Any:
    """Read a limit of an order's parameter off its type."""
    hint = get_type_hints(order, include_extras=True)[name]
    return getattr(msgspec.inspect.type_info(hint), limit)


@pytest.fixture(scope="module")
def told() -> dict[str, int]:
    return json.loads(LIMITS.read_text())


def test_the_console_tells_the_limits_that_the_control_plane_checks(told: dict[str, int]) -> None:
    group = CreateConsumerGroup

    assert told == {
        "topicNameLengthMax": topic.CREATED_NAME_LENGTH_MAX,
        "groupNameLengthMax": consumer_group.CREATED_NAME_LENGTH_MAX,
        "queueCountMax": limit_of(CreateTopic, "read_queue_count", "le"),
        "retryCountMin": limit_of(group, "retry_count_max", "ge"),
        "retryCountMax": limit_of(group, "retry_count_max", "le"),
        "retryQueueCountMax": limit_of(group, "retry_queue_count", "le"),
        "consumeTimeoutMinutesMin": limit_of(group, "consume_timeout_minutes", "ge"),
        "consumeTimeoutMinutesMax": limit_of(group, "consume_timeout_minutes", "le"),
        "waivedGroupsMax": limit_of(DrainBroker, "waived_groups", "max_length"),
    }


def test_write_queues_have_the_limits_of_read_queues() -> None:
    ranges = [
        (limit_of(CreateTopic, name, "ge"), limit_of(CreateTopic, name, "le"))
        for name in ("read_queue_count", "write_queue_count")
    ]

    assert ranges[0] == ranges[1]
    assert {"read_queue_count", "write_queue_count"} <= {one.name for one in fields(CreateTopic)}
