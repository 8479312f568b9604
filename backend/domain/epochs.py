"""Compare what the brokers of a group say of the epochs that wrote their logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.replica_identity import Teller


@dataclass(frozen=True, slots=True)
class EpochSpan:
    """Hold which part of a log one epoch wrote, in bytes; the newest has no end yet."""

    epoch: int
    start_offset: int
    end_offset: int | None


@dataclass(frozen=True, slots=True)
class LogHistory:
    """Hold the epochs of one broker's log in their order, where the log ends, and who tells."""

    spans: tuple[EpochSpan, ...]
    max_offset: int
    reported_by: Teller | None = None


def find_disagreement(histories: Mapping[int, LogHistory]) -> int | None:
    """Find the first epoch that began at different places in two logs.

    A log that lacks an epoch disagrees with nobody: it may only be behind.
    """
    starts: dict[int, set[int]] = {}
    for history in histories.values():
        for span in history.spans:
            starts.setdefault(span.epoch, set()).add(span.start_offset)
    differing: Sequence[int] = [epoch for epoch, seen in starts.items() if len(seen) > 1]
    return min(differing, default=None)
