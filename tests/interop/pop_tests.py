"""RocketMQ's own tests that receive by POP, and what shows the same of our broker."""

from typing import Final

from tests.interop.pop_scenarios import SCENARIOS

CALLS: Final = "tests/interop/test_pop_calls.py::test_o51_the_java_client_sees_what_rocketmq_tests"
PRIORITIES: Final = "PopPriorityIT"
ACTING: Final = "PopSlaveActingMasterIT"

SHOWN_ELSEWHERE: Final = {
    "PopSubCheckIT.testNormalPopAck": (
        "tests/interop/test_pop.py::"
        "test_o51_stock_consumers_share_messages_by_pop_over_a_failover"
    ),
    "PopConsumerRetryIT.testNormalMessageUseMessageVersionV2": (
        "tests/interop/test_pop.py::test_o51_a_message_that_fails_twice_comes_a_third_time"
    ),
    "PopConsumerRetryIT.testFIFOMessageUseMessageVersionV2": (
        "tests/interop/test_pop.py::test_o51_a_message_that_fails_twice_comes_a_third_time"
    ),
    "SendAndRecallDelayMessageIT": (
        "tests/interop/test_timers.py::test_a_handle_of_ours_recalls_at_stock_and_back"
    ),
}
"""Tests over the wire whose behaviour a test outside the scenarios shows."""
