"""Show the epochs of the logs of a broker group."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.services.controller.log_histories import GroupHistories, ReportedHistory
from backend.views.copying import copied
from backend.views.field_texts import BROKER_ADDRESS, LOG_END, REPLICA_ID, REPLY_ERROR
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class EpochSpanOut:
    """The part of a log that one epoch wrote; the newest epoch has no end yet."""

    epoch: Annotated[int, Text("Epoch of this part of the log.")]
    start_offset: Annotated[Int64, Text("Log position in bytes where the epoch starts.")]
    end_offset: Annotated[
        Int64 | None, Text("Log position in bytes where the epoch ends. Null for the newest epoch.")
    ]


@dataclass(frozen=True, slots=True)
class LogHistoryOut:
    """The answer of one replica; null is unknown, and `error` says why."""

    broker_id: Annotated[Int64, REPLICA_ID]
    address: Annotated[str, BROKER_ADDRESS]
    max_offset: Annotated[Int64 | None, LOG_END]
    epochs: Annotated[
        list[EpochSpanOut] | None,
        Text("Epochs of the log, the oldest first. Null if they are unknown."),
    ]
    error: Annotated[str | None, REPLY_ERROR]

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
    """The answers of all replicas, and the first epoch that starts differently in two logs."""

    replicas: Annotated[list[LogHistoryOut], Text("Log history of each replica.")]
    differing_epoch: Annotated[
        int | None,
        Text(
            "First epoch that starts at different positions in two replicas. Null if there is none."
        ),
    ]

    @classmethod
    def of(cls, found: GroupHistories) -> Self:
        """Show all answers."""
        return copied(cls, found, replicas=[LogHistoryOut.of(one) for one in found.replicas])
