"""Send an answer only when its promise is as safe as this broker can make it."""

from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal


async def kept(broker: Broker, reply: bytes) -> bytes:
    """Return the answer to an order once it is on disk, and on all possible next masters.

    A repeated order waits for the first one in the same way.

    Raises:
        Refusal: the log is damaged and accepts no order.
        Unconfirmed: the order may be lost.
        StoreError: the disk refused.
    """
    if broker.damage is not None:
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, broker.damage.reason)
    await broker.changes.confirmed()
    return reply


async def published(broker: Broker, reply: bytes) -> bytes:
    """Return the answer as `kept`, and once the reachable name servers know the topics.

    Raises:
        Refusal, Unconfirmed, StoreError: as `kept`.
    """
    await kept(broker, reply)
    if broker.name_servers is not None:
        await broker.name_servers.publish()
    return reply
