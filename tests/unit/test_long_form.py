import pytest

from tests import long_form
from tests.long_form import chosen, few, stride


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(long_form, "RUNS_ALL_CASES", False)


def test_few_cases_lie_apart_and_hold_the_first_and_the_last():
    assert few(range(18), 6) == [0, 3, 7, 10, 14, 17]
    assert few("abcdefgh", 3) == ["a", "d", "h"]
    assert few("ab", 1) == ["b"]
    assert stride(3) == 3


def test_no_case_comes_twice_where_there_are_not_many():
    assert few("ab", 3) == ["a", "b"]


def test_the_long_form_has_all_cases(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(long_form, "RUNS_ALL_CASES", True)

    assert few(range(18), 6) == list(range(18))
    assert chosen("abc", "b") == ["a", "b", "c"]
    assert stride(3) == 1


def test_chosen_cases_are_those_that_are_named():
    assert chosen("abcd", "d", "b") == ["d", "b"]
    with pytest.raises(ValueError, match="no cases \\['x'\\]"):
        chosen("abcd", "a", "x")
