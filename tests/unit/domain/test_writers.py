"""A plan warns before it leaves a broker group without a writer, now or after one failure."""

import pytest

from backend.domain.plan import CheckVerdict
from backend.operations.planning.writers import judge_cordon
from tests.unit.domain.test_health import broker, down, group, static, unheard

ADDRESS = "10.0.0.{}:10911"
PASS, WARN = CheckVerdict.PASS, CheckVerdict.WARN


@pytest.mark.parametrize(
    ("facts", "cordoned_id", "heir_id", "verdict", "words"),
    [
        (group(broker(1), broker(2), broker(3)), 2, None, PASS, "broker-b-1 takes messages"),
        (group(broker(1), broker(2), broker(3)), 1, 2, PASS, "broker-b-2 takes messages"),
        (group(broker(1), broker(2)), 2, None, WARN, "broker-b-1 is the only broker of broker-b"),
        (group(broker(1), broker(2)), 1, 2, WARN, "broker-b-2 is the only broker of broker-b"),
        (group(broker(1), down(2)), 1, None, WARN, "and no other may take over"),
        (group(broker(1), broker(2)), 1, None, WARN, "is cordoned; elect another first"),
        (group(broker(1), broker(2, is_in_sync=False)), 1, None, WARN, "no other may take over"),
        (group(broker(1), broker(2, is_cordoned=True)), 1, 2, WARN, "has no writer then"),
        (group(down(1), broker(2)), 2, None, WARN, "has no writer then"),
        (group(unheard(1), broker(2)), 2, None, WARN, "is not known"),
        (static(broker(0), broker(1)), 0, None, WARN, "has no writer then"),
        (static(broker(0), broker(1)), 1, None, PASS, "broker-b-0 takes messages"),
    ],
)
def test_a_cordon_is_judged_by_what_is_left(facts, cordoned_id, heir_id, verdict, words):
    # Case A16.
    check = judge_cordon(facts, ADDRESS.format(cordoned_id), heir_id=heir_id)

    assert check.verdict is verdict
    assert words in check.why
