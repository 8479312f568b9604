"""Ask masters for share queues and for what consumers have of them, and have it released."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import (
    ConsumeMode,
    HeldShareQueue,
    HeldShareQueues,
    ShareMessage,
    ShareMessages,
    ShareQueueName,
)
from backend.remoting import java_json
from backend.remoting.bodies.shares import (
    ReleaseSharesBody,
    ShareHoldBody,
    ShareMessagesBody,
    ShareQueueBody,
    ShareQueuesBody,
)
from backend.remoting.command import Command
from backend.remoting.headers.shares import (
    CompactShareQueuesHeader,
    ShareQueueHeader,
    ShareQueuesHeader,
)
from backend.remoting.request_code import RequestCode


@dataclass(frozen=True, slots=True)
class GetShareQueues(Request[HeldShareQueues]):
    """Ask a master for its share queues, of a topic, of a consumer group, or all."""

    code = RequestCode.GET_SHARE_QUEUES
    header_type = ShareQueuesHeader

    topic: str | None = None
    consumer_group: str | None = None

    def read(self, response: Command) -> HeldShareQueues:
        body = java_json.decode(response.body, ShareQueuesBody)
        queues = tuple(_held(one, body.led_ms) for one in body.queues)
        return HeldShareQueues(body.is_leading, queues, body.total_count, body.protocol_version)


@dataclass(frozen=True, slots=True)
class GetShareMessages(Request[ShareMessages]):
    """Ask a master for a share queue, with its messages that are delivered and unfinished."""

    code = RequestCode.GET_SHARE_MESSAGES

    name: ShareQueueName

    @property
    def header(self) -> ShareQueueHeader:
        name = self.name
        return ShareQueueHeader(
            topic=name.topic, queue_id=name.queue_id, consumer_group=name.consumer_group_name
        )

    def read(self, response: Command) -> ShareMessages:
        body = java_json.decode(response.body, ShareMessagesBody)
        queue = None if body.queue is None else _held(body.queue, body.led_ms)
        messages = (ShareMessage(**msgspec.structs.asdict(one)) for one in body.messages)
        return ShareMessages(body.is_leading, queue, tuple(messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseShareMessages(Change):
    """Have a master deliver messages again that consumers have, each a pair of offset and delivery.

    A message whose delivery has changed since stays as it is.
    """

    code = RequestCode.RELEASE_SHARE_MESSAGES

    name: ShareQueueName
    holds: Sequence[tuple[int, int, int]]
    """Offset, time of the delivery in ms since 1970, and tag of the delivery."""

    @property
    def body(self) -> bytes:
        holds = [ShareHoldBody(offset=one, pop_time_ms=at, tag=tag) for one, at, tag in self.holds]
        name = self.name
        order = ReleaseSharesBody(
            topic=name.topic,
            queue_id=name.queue_id,
            consumer_group=name.consumer_group_name,
            holds=holds,
        )
        return java_json.encode(order)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactShareQueues(Change):
    """Have a master write its lane again, in records of a former protocol version."""

    code = RequestCode.COMPACT_SHARE_QUEUES

    version: int

    @property
    def header(self) -> CompactShareQueuesHeader:
        return CompactShareQueuesHeader(version=self.version)


def _held(body: ShareQueueBody, led_ms: int) -> HeldShareQueue:
    fields = msgspec.structs.asdict(body)
    consume_mode = fields.pop("consume_mode")
    return HeldShareQueue(
        consumer_group_name=fields.pop("consumer_group"),
        mode=ShareMode(fields.pop("mode")),
        consume_mode=None if consume_mode is None else ConsumeMode(consume_mode),
        counted_ms=led_ms,
        **fields,
    )
