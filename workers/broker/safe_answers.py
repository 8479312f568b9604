"""Give answers once what they promise is as safe as this broker can make it."""

from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal


async def kept(broker: Broker, reply: bytes) -> bytes:
    """Give the answer to an order once it is on disk, and in a group with all who may lead next.

    So it is with what was ordered before, whoever orders it again.

    Raises:
        Refusal: the log is damaged and takes no order.
        Unconfirmed: it may survive or not.
        StoreError: the disk refused.
    """
    if broker.damage is not None:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, broker.damage.reason)
    await broker.changes.confirmed()
    return reply


async def published(broker: Broker, reply: bytes) -> bytes:
    """Give the answer as `kept`, and once the reachable name servers know the topics.

    Raises:
        Refusal, Unconfirmed, StoreError: as `kept`.
    """
    await kept(broker, reply)
    if broker.name_servers is not None:
        await broker.name_servers.publish()
    return reply


async def stored(broker: Broker, end: int, reply: bytes, late_reply: bytes) -> bytes:
    """Give the answer once the log up to a position is as safe as the settings ask.

    Raises:
        Refusal: the disk failed, so nobody knows whether the message survives.
    """
    if broker.replication is not None:
        return await broker.replication.safe(end, reply)
    if broker.settings.flush_mode == "async":
        return reply
    timeout_s = broker.settings.flush_timeout_ms / 1000
    durable = await broker.flusher.durable(end, timeout_s=timeout_s)
    if durable is None:
        return late_reply
    if not durable:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "the disk refused to flush")
    return reply
