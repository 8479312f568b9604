"""The address of Redis, for Celery's transport."""

import pytest

from backend.clients.task_queue import broker_url


@pytest.mark.parametrize(
    ("redis_url", "expected"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://:secret@redis.example:6379/1", "rediss://:secret@redis.example:6379/1"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
    ],
)
def test_a_socket_is_translated_and_all_else_is_left(redis_url, expected):
    assert broker_url(redis_url) == expected
