"""Present how far the replicas of a group are behind their master."""

from typing import Self

import strawberry

from backend.api.graphql.scalars import Int64, int64
from backend.services.replica_lags import GroupLags as LagsView
from backend.services.replica_lags import ToldLag


@strawberry.type
class ReplicaLag:
    """Present how far one broker is, in bytes of its log; null is unknown, `error` may say why.

    `obstacle` is why a replica does not follow, as it says itself, and what to do.
    `aheadBytes` is what it holds beyond its master's log, and will cut; it has no lag then.
    `catchUpMs` is how long what it lacks takes at the rate at which it receives.
    """

    broker_id: Int64
    address: str
    is_master: bool
    is_in_sync: bool
    is_following: bool | None
    max_offset: Int64 | None
    lag_bytes: Int64 | None
    ahead_bytes: Int64 | None
    bytes_per_second: Int64 | None
    catch_up_ms: Int64 | None
    obstacle: str | None
    error: str | None

    @classmethod
    def of(cls, told: ToldLag) -> Self:
        """Present what a broker told."""
        position = told.position
        return cls(
            broker_id=Int64(told.broker_id),
            address=told.address,
            is_master=told.is_master,
            is_in_sync=told.is_in_sync,
            is_following=None if position is None else position.is_following,
            max_offset=None if position is None else int64(position.max_offset),
            lag_bytes=int64(told.lag.lag_bytes),
            ahead_bytes=int64(told.lag.ahead_bytes),
            bytes_per_second=None if position is None else Int64(position.bytes_per_second),
            catch_up_ms=int64(told.lag.catch_up_ms),
            obstacle=None if position is None else position.obstacle,
            error=told.error,
        )


@strawberry.type
class GroupLags:
    """Present the brokers of a group beside the end of their master's log."""

    master_id: Int64 | None
    master_max_offset: Int64 | None
    replicas: list[ReplicaLag]

    @classmethod
    def of(cls, found: LagsView) -> Self:
        """Present all answers."""
        return cls(
            master_id=int64(found.master_id),
            master_max_offset=int64(found.master_end),
            replicas=[ReplicaLag.of(told) for told in found.replicas],
        )
