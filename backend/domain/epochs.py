"""Compare the epochs of the logs of a broker group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.replica_identity import Reporter


@dataclass(frozen=True, slots=True)
class EpochSpan:
    """Hold the part of a log that one epoch wrote, in bytes; the newest epoch has no end yet."""

    epoch: int
    start_offset: int
    end_offset: int | None


@dataclass(frozen=True, slots=True)
class LogHistory:
    """Hold the epochs of the log of one broker in their order, and the end of the log."""

    spans: tuple[EpochSpan, ...]
    max_offset: int
    reported_by: Reporter | None = None


def find_disagreement(histories: Mapping[int, LogHistory]) -> int | None:
    """Find the first epoch that starts at different positions in two logs.

    A log without an epoch is no disagreement: it may only be behind.
    """
    starts: dict[int, set[int]] = {}
    for history in histories.values():
        for span in history.spans:
            starts.setdefault(span.epoch, set()).add(span.start_offset)
    differing: Sequence[int] = [epoch for epoch, seen in starts.items() if len(seen) > 1]
    return min(differing, default=None)
