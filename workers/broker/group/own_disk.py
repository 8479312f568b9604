"""Acknowledge data once it is on the disk of this broker: no other one must have it."""

from functools import partial
from typing import TYPE_CHECKING, Final

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.replication.acknowledgement import Outcome, Release

if TYPE_CHECKING:
    from workers.broker.broker import Broker

_OUTCOMES: Final = {
    True: Outcome.CONFIRMED,
    False: Outcome.FLUSH_FAILED,
    None: Outcome.UNFLUSHED,
}


def when_on_disk(broker: "Broker", position: int, release: Release) -> None:
    """Call back once the log up to a position is on the disk, or is late or lost."""
    broker.flusher.when_durable_in_time(
        position, partial(_release, release), timeout_s=_timeout_s(broker)
    )


async def stored_on_disk(broker: "Broker", position: int, reply: bytes, late_reply: bytes) -> bytes:
    """Return the answer immediately, or after the flush if the settings require it.

    Raises:
        Refusal: the disk failed, and it is unknown whether the message is stored.
    """
    if broker.settings.flush_mode == "async":
        return reply
    is_durable = await broker.flusher.durable(position, timeout_s=_timeout_s(broker))
    if is_durable is None:
        return late_reply
    if not is_durable:
        raise flush_failed()
    return reply


def flush_failed() -> Refusal:
    """Return the answer if the content of the disk is unknown."""
    return Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "a flush to the disk failed")


def _release(release: Release, durable: bool | None) -> None:  # noqa: FBT001 - as the flusher calls
    release(_OUTCOMES[durable])


def _timeout_s(broker: "Broker") -> float:
    return broker.settings.flush_timeout_ms / 1000
