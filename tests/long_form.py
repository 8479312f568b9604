"""Tests and cases that only `make soak SOAK=cases` runs: more of a kind that `make test` has.

`make test` runs one case of each kind of fault, page, form and command. `few`, `chosen` and
`stride` choose the cases of one test; `long_form_only` marks a test whose kind another test covers.
"""

import os
from collections.abc import Iterable
from typing import Final, TypeVar

import pytest

Case = TypeVar("Case")

RUNS_ALL_CASES: Final = os.environ.get("REGENT_ALL_CASES", "0") != "0"


def few(cases: Iterable[Case], count: int) -> list[Case]:
    """Choose evenly spaced cases, including the first and the last; one case is the last."""
    listed = list(cases)
    if RUNS_ALL_CASES or count >= len(listed):
        return listed
    step = (len(listed) - 1) / max(1, count - 1)
    return [listed[-1 - round(number * step)] for number in reversed(range(count))]


def chosen(cases: Iterable[Case], *kept: Case) -> list[Case]:
    """Choose cases by name, one of each kind.

    Raises:
        ValueError: a kept case is not among the cases.
    """
    listed = list(cases)
    if unknown := [case for case in kept if case not in listed]:
        raise ValueError(f"no cases {unknown} among {listed}")
    return listed if RUNS_ALL_CASES else list(kept)


def stride(step: int) -> int:
    """Give the distance of the points that a test goes through; the long form has all points."""
    return 1 if RUNS_ALL_CASES else step


long_form_only: Final = pytest.mark.long_form
"""Marks a test that only the long form runs."""


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that only the long form runs, unless this run is the long form."""
    if RUNS_ALL_CASES:
        return
    left_out = [item for item in items if item.get_closest_marker("long_form")]
    items[:] = [item for item in items if not item.get_closest_marker("long_form")]
    config.hook.pytest_deselected(items=left_out)
