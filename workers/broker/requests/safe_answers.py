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
