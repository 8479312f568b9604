"""The number of cases that `make test` runs; `make soak SOAK=cases` runs all of them."""

import os
from collections.abc import Iterable
from typing import Final, TypeVar

Case = TypeVar("Case")

RUNS_ALL_CASES: Final = os.environ.get("REGENT_ALL_CASES", "0") != "0"


def few(cases: Iterable[Case], count: int) -> list[Case]:
    """Choose evenly spaced cases, including the first and the last; one case is the last."""
    listed = list(cases)
    if RUNS_ALL_CASES or count >= len(listed):
        return listed
    step = (len(listed) - 1) / max(1, count - 1)
    return [listed[-1 - round(number * step)] for number in reversed(range(count))]
