"""What `make test` leaves to `make soak SOAK=cases`: more cases of a kind that it has already.

`make test` runs one case of each kind of fault, page, form and command. `few` and `chosen` say
which cases of one test these are; `long_form_only` marks a test whose kind another test has.
"""

import os
from collections.abc import Iterable
from typing import Final, TypeVar

import pytest

Case = TypeVar("Case")

RUNS_ALL_CASES: Final = os.environ.get("REGENT_ALL_CASES", "0") != "0"


def few(cases: Iterable[Case], count: int) -> list[Case]:
    """Choose cases that lie evenly apart, the first and the last among them; one is the last."""
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


long_form_only: Final = pytest.mark.skipif(
    not RUNS_ALL_CASES, reason="another test has its kind; `make soak SOAK=cases` runs it"
)
"""Marks a test that only the long form has."""
