from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from backend.brokers.errors import BrokerUnreachable
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.services.logical_queue.settled_topics import look_at_each


@dataclass(slots=True)
class Look:
    topic_name: str
    error: Exception | None = None
    is_taken: bool = False

    async def take(self):
        if self.error is not None:
            raise self.error
        self.is_taken = True


async def test_a_topic_that_fails_keeps_no_other_one_waiting():
    refused = QueueChangeRefused("refused", "it is changing")
    silent = BrokerUnreachable("127.0.0.1:1", "no route")
    looks = [Look("refused", refused), Look("silent", silent), Look("sound")]

    with capture_logs() as logs:
        failed_count = await look_at_each(looks, Look.take, failed_event="topic_not_seen")

    assert failed_count == 2
    assert [one.is_taken for one in looks] == [False, False, True]
    assert [(one["event"], one["topic"]) for one in logs] == [
        ("topic_not_seen", "refused"),
        ("topic_not_seen", "silent"),
    ]


async def test_a_fault_of_the_program_is_not_taken_for_a_failed_topic():
    with pytest.raises(ZeroDivisionError):
        await look_at_each([Look("broken", ZeroDivisionError())], Look.take, failed_event="e")
