"""docs/pop-tests.md names what shows the same as each test of POP of RocketMQ."""

from tests.interop.pop_scenarios import SCENARIOS
from tests.interop.pop_tests import OTHER_TESTS
from tests.pop_table import PAGE, rewritten


def test_the_page_is_up_to_date():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `python -m tests.pop_table`"


def test_each_test_of_rocketmq_is_named_once():
    shown = [name for scenario in SCENARIOS.values() for name in scenario.shown]

    assert len(shown) > 25
    assert sorted({*shown, *OTHER_TESTS}) == sorted([*shown, *OTHER_TESTS])
