"""Show the lag of the replicas of a group behind their master."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.services.controller.replica_lags import GroupLags, ReportedReplicaLag
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    IS_IN_SYNC,
    IS_MASTER,
    LOG_END,
    MASTER_ID,
    REPLICA_ID,
    REPLY_ERROR,
)
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class ReplicaLagOut:
    """Lag of one replica in bytes of its log; null is unknown, and `error` may say why.

    A replica that is ahead of its master by `ahead_bytes` has no lag.
    """

    broker_id: Annotated[Int64, REPLICA_ID]
    address: Annotated[str, BROKER_ADDRESS]
    is_master: Annotated[bool, IS_MASTER]
    is_in_sync: Annotated[bool, IS_IN_SYNC]
    is_following: Annotated[
        bool | None,
        Text("Whether the replica receives the log of the master. Null if it is unknown."),
    ]
    max_offset: Annotated[Int64 | None, LOG_END]
    lag_bytes: Annotated[
        Int64 | None,
        Text("Bytes of the master's log that the replica lacks. Null if it is unknown."),
    ]
    ahead_bytes: Annotated[
        Int64 | None,
        Text("Bytes of the replica's log beyond the master's log. The replica will truncate them."),
    ]
    bytes_per_second: Annotated[
        Int64 | None, Text("Bytes that the replica receives per second. Null if it is unknown.")
    ]
    catch_up_ms: Annotated[
        Int64 | None,
        Text("Milliseconds until the lag is zero at this rate. Null if it is unknown."),
    ]
    obstacle: Annotated[
        str | None,
        Text("Why the replica does not follow, as it reports, and what to do. Null if nothing."),
    ]
    error: Annotated[str | None, REPLY_ERROR]

    @classmethod
    def of(cls, answer: ReportedReplicaLag) -> Self:
        """Show the answer of a broker."""
        position = answer.position
        return copied(
            cls,
            answer,
            is_following=None if position is None else position.is_following,
            max_offset=None if position is None else position.max_offset,
            lag_bytes=answer.lag.lag_bytes,
            ahead_bytes=answer.lag.ahead_bytes,
            bytes_per_second=None if position is None else position.bytes_per_second,
            catch_up_ms=answer.lag.catch_up_ms,
            obstacle=None if position is None else position.obstacle,
        )


@dataclass(frozen=True, slots=True)
class GroupLagsOut:
    """The brokers of a group beside the end of their master's log."""

    master_id: Annotated[Int64 | None, MASTER_ID]
    master_max_offset: Annotated[
        Int64 | None, Text("End of the master's log in bytes. Null if it is unknown.")
    ]
    replicas: Annotated[list[ReplicaLagOut], Text("Lag of each replica, and the master itself.")]

    @classmethod
    def of(cls, found: GroupLags) -> Self:
        """Show all answers."""
        replicas = [ReplicaLagOut.of(one) for one in found.replicas]
        return cls(found.master_id, found.master_end, replicas)
