"""Answer over REST which epoch wrote which part of the logs of a group."""

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.replica_groups import GROUP, named
from backend.services.log_histories import ToldHistory, compare_histories

router = APIRouter(tags=["replica groups"])


class EpochSpanOut(BaseModel):
    """Which part of a log one epoch wrote; the newest has no end yet."""

    epoch: int
    start_offset: int
    end_offset: int | None


class LogHistoryOut(BaseModel):
    """What one replica answered; null is unknown, and `error` says why."""

    broker_id: int
    address: str
    max_offset: int | None
    epochs: list[EpochSpanOut] | None
    error: str | None


class GroupHistoriesOut(BaseModel):
    """The answers of all replicas, and the first epoch that began at different places in two."""

    replicas: list[LogHistoryOut]
    differing_epoch: int | None


@router.get(GROUP + "/epochs", responses=NOT_FOUND)
async def show_epochs(cluster_name: str, group_name: str, context: Context) -> GroupHistoriesOut:
    """Ask the replicas of a group for the epochs of their logs, and compare them."""
    found = await compare_histories(
        named(cluster_name, group_name), context.name_server.controller, context.brokers
    )
    return GroupHistoriesOut(
        replicas=[_history_out(told) for told in found.replicas],
        differing_epoch=found.differing_epoch,
    )


def _history_out(told: ToldHistory) -> LogHistoryOut:
    history = told.history
    return LogHistoryOut(
        broker_id=told.broker_id,
        address=told.address,
        max_offset=None if history is None else history.max_offset,
        epochs=None
        if history is None
        else [
            EpochSpanOut(
                epoch=span.epoch, start_offset=span.start_offset, end_offset=span.end_offset
            )
            for span in history.spans
        ],
        error=told.error,
    )
