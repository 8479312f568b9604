"""Show which epoch wrote which part of the logs of a group."""

from dataclasses import dataclass
from typing import Self

from backend.services.controller.log_histories import GroupHistories, ReportedHistory
from backend.views.copying import copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class EpochSpanOut:
    """Which part of a log one epoch wrote; the newest has no end yet."""

    epoch: int
    start_offset: Int64
    end_offset: Int64 | None


@dataclass(frozen=True, slots=True)
class LogHistoryOut:
    """What one replica answered; null is unknown, and `error` says why."""

    broker_id: Int64
    address: str
    max_offset: Int64 | None
    epochs: list[EpochSpanOut] | None
    error: str | None

    @classmethod
    def of(cls, answer: ReportedHistory) -> Self:
        """Show the answer of a replica."""
        history = answer.history
        if history is None:
            return copied(cls, answer, max_offset=None, epochs=None)
        spans = [copied(EpochSpanOut, span) for span in history.spans]
        return copied(cls, answer, max_offset=history.max_offset, epochs=spans)


@dataclass(frozen=True, slots=True)
class GroupHistoriesOut:
    """The answers of all replicas, and the first epoch that began at different places in two."""

    replicas: list[LogHistoryOut]
    differing_epoch: int | None

    @classmethod
    def of(cls, found: GroupHistories) -> Self:
        """Show all answers."""
        return copied(cls, found, replicas=[LogHistoryOut.of(one) for one in found.replicas])
