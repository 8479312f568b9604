"""Every scenario that concerns what is built has a test that cites it, and the table says so."""

import re

import pytest

from tests.scenarios import TABLE, find_citations, read_catalogue, render, rust_tests

NOT_SHOWN_YET: frozenset[str] = frozenset()
"""Scenarios without a test: the author of a test removes its number. Nothing is ever added."""


@pytest.fixture(scope="module")
def scenarios():
    return read_catalogue()


@pytest.fixture(scope="module")
def cited():
    return find_citations()


def test_the_catalogue_is_whole(scenarios):
    numbers = [scenario.number for scenario in scenarios]

    assert numbers == [
        *(f"S{number}" for number in range(1, 144)),
        *(f"L{number}" for number in range(1, 68)),
        *(f"O{number}" for number in range(1, 59)),
    ]


def test_every_scenario_of_what_is_built_is_cited_by_a_test(scenarios, cited):
    missing = {one.number for one in scenarios if not one.later and not cited[one.number]}

    assert missing == NOT_SHOWN_YET
    assert {one.number for one in scenarios if one.missing} == NOT_SHOWN_YET


def test_make_test_has_a_test_of_every_scenario_that_make_soak_has(cited):
    in_soak_alone = {
        number for number, tests in cited.items() if all(one.is_in_soak for one in tests)
    }

    assert in_soak_alone == set()


def test_no_test_cites_a_scenario_that_there_is_not_or_that_is_for_later(scenarios, cited):
    here = {one.number for one in scenarios if not one.later}

    assert {number for number, tests in cited.items() if tests} - here == set()


def test_where_a_decision_departs_from_stock_a_test_says_which(scenarios, cited):
    departing = [one for one in scenarios if one.departs and not one.missing]

    silent = [
        one.number for one in departing if not any(_says(test, one) for test in cited[one.number])
    ]

    assert departing
    assert silent == []


def _says(test, scenario):
    """Whether a test names the decision, or, for a departure without a number, stock's way."""
    decision = scenario.departs.partition(":")[0]
    is_numbered = re.fullmatch(r"(D|ADR )\d+", decision)
    words = [decision.lower()] if is_numbered else ["stock", "here"]
    return any(word in test.text.lower() or f"_{word}" in test.name for word in words)


def test_the_table_is_up_to_date(scenarios, cited):
    assert TABLE.read_text() == render(scenarios, cited), "run make scenarios"


def test_rust_tests_cite_by_the_comments_before_and_in_them():
    source = """
    // S7 belongs to nothing.
    fn helper() {}

    /// S40: it leaves.
    #[test]
    fn it_leaves() {
        // S61
    }

    #[test]
    fn another() {} // D9
    """

    found = {test.name: test.numbers for test in rust_tests("a.rs", source)}

    assert found == {"it_leaves": {"S40", "S61"}, "another": set()}
