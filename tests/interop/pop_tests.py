"""RocketMQ's own tests that receive by POP, and what shows the same of our broker.

What the scenarios show is named there (`pop_scenarios`).
"""

from dataclasses import dataclass
from typing import Final

RUNNER: Final = "tests/interop/test_pop_calls.py::test_o51_the_java_client_sees_what_rocketmq_tests"


@dataclass(frozen=True, slots=True)
class Shown:
    """A test of ours outside the scenarios, as `path::name`."""

    test: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The reason why no test of ours shows the same."""

    reason: str


PUSH: Final = "tests/interop/test_pop.py::test_o51_"
ACTING: Final = "tests/integration/acting/test_pop.py::test_what_is_acknowledged_at_an_acting_"
IN_PLACE: Final = LeftOut(
    "The setting is of RocketMQ's retry topics: here a message comes again in its queue, and so "
    "with its priority."
)
LATER_CLIENT: Final = LeftOut("The client of 5.5.0 has no such request.")

OTHER_TESTS: Final[dict[str, Shown | LeftOut]] = {
    "PopSubCheckIT.testNormalPopAck": Shown(
        f"{PUSH}stock_consumers_share_messages_by_pop_over_a_failover"
    ),
    "PopConsumerRetryIT.testNormalMessageUseMessageVersionV2": Shown(
        f"{PUSH}a_message_that_fails_twice_comes_a_third_time"
    ),
    "PopConsumerRetryIT.testFIFOMessageUseMessageVersionV2": Shown(
        f"{PUSH}a_message_that_fails_twice_comes_a_third_time"
    ),
    "PopPriorityIT.test_priority_consume_retry_as_lowest": IN_PLACE,
    "PopPriorityIT.test_priority_consume_retry_as_highest": IN_PLACE,
    "PopPriorityIT.test_priority_consume_use_separate_retry_queue": IN_PLACE,
    "PopPriorityIT.test_priority_consume_use_separate_retry_queue_with_queue_expansion": IN_PLACE,
    "BatchChangeInvisibleTimeIT": LATER_CLIENT,
    "PopSlaveActingMasterIT.testLocalActing_ackSlave": Shown(
        f"{ACTING}replica_does_not_come_again"
    ),
    "PopSlaveActingMasterIT.testLocalActing_notAckSlave": Shown(
        f"{ACTING}replica_does_not_come_again"
    ),
    "PopSlaveActingMasterIT.testRemoteActing_*": LeftOut(
        "Brokers of a container are isolated from inside. Here no other broker group serves POP "
        "of an absent one."
    ),
    "SendAndRecallDelayMessageIT": Shown(
        "tests/integration/broker/test_timers.py::test_a_recalled_message_is_not_delivered"
    ),
    "RecallWithTraceIT": LeftOut("It is of the trace that the client sends, not of a broker."),
    "NormalMessageSendAndRecvIT": LeftOut("Its consumer pulls."),
}
"""Tests of RocketMQ 5.5.0 that no scenario shows."""
