"""Give answers once what they promise is as safe as this broker can make it."""

from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal


async def saved(broker: Broker, reply: bytes) -> bytes:
    """Give the answer once changed topics and groups are on disk.

    Raises:
        OSError: the disk refused.
    """
    await broker.state.topic_saver.save()
    await broker.state.group_saver.save()
    return reply


async def kept(broker: Broker, reply: bytes) -> bytes:
    """Give the answer to an order once it is on disk, and in a group with all who may lead next.

    So it is with what was ordered before, whoever orders it again.

    Raises:
        Unconfirmed: it may survive or not.
        OSError, StoreError: the disk refused.
    """
    await saved(broker, reply)
    if broker.replication is not None:
        await broker.replication.changes.confirmed()
    return reply


async def published(broker: Broker, reply: bytes) -> bytes:
    """Give the answer as `kept`, and once the reachable name servers know the topics.

    Raises:
        Unconfirmed: what was ordered may survive or not.
        OSError, StoreError: the disk refused.
    """
    await kept(broker, reply)
    if broker.name_servers is not None:
        await broker.name_servers.publish()
    return reply


async def stored(broker: Broker, end: int, reply: bytes, late_reply: bytes) -> bytes:
    """Give the answer once the log up to a position is as safe as the settings ask.

    Raises:
        Refusal: the disk failed, so nobody knows whether the message survives.
        OSError: the disk refused a topic that was made for the message.
    """
    if broker.state.has_unsaved_changes:
        await saved(broker, reply)
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
