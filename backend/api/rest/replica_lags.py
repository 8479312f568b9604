"""Answer over REST how far the replicas of a group are behind their master."""

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.replica_groups import GROUP, named
from backend.services.replica_lags import ToldLag, measure_group

router = APIRouter(tags=["replica groups"])


class ReplicaLagOut(BaseModel):
    """How far one broker is, in bytes of its log; null is unknown, and `error` may say why.

    `obstacle` is why a replica does not follow, as it says itself, and what to do.
    `ahead_bytes` is what it holds beyond its master's log, and will cut; it has no lag then.
    `catch_up_ms` is how long what it lacks takes at the rate at which it receives.
    """

    broker_id: int
    address: str
    is_master: bool
    is_in_sync: bool
    is_following: bool | None
    max_offset: int | None
    lag_bytes: int | None
    ahead_bytes: int | None
    bytes_per_second: int | None
    catch_up_ms: int | None
    obstacle: str | None
    error: str | None


class GroupLagsOut(BaseModel):
    """The brokers of a group beside the end of their master's log."""

    master_id: int | None
    master_max_offset: int | None
    replicas: list[ReplicaLagOut]


@router.get(GROUP + "/lag", responses=NOT_FOUND)
async def show_lag(cluster_name: str, group_name: str, context: Context) -> GroupLagsOut:
    """Ask the brokers of a group where their logs end, and compare them with the master's."""
    found = await measure_group(
        named(cluster_name, group_name), context.name_server.controller, context.brokers
    )
    return GroupLagsOut(
        master_id=found.master_id,
        master_max_offset=found.master_end,
        replicas=[_lag_out(told) for told in found.replicas],
    )


def _lag_out(told: ToldLag) -> ReplicaLagOut:
    position = told.position
    return ReplicaLagOut(
        broker_id=told.broker_id,
        address=told.address,
        is_master=told.is_master,
        is_in_sync=told.is_in_sync,
        is_following=None if position is None else position.is_following,
        max_offset=None if position is None else position.max_offset,
        lag_bytes=told.lag.lag_bytes,
        ahead_bytes=told.lag.ahead_bytes,
        bytes_per_second=None if position is None else position.bytes_per_second,
        catch_up_ms=told.lag.catch_up_ms,
        obstacle=None if position is None else position.obstacle,
        error=told.error,
    )
