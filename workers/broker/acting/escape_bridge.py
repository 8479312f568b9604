"""Send messages that are due at an acting master to the masters of other broker groups (D17).

The queue of a delay level is the outbox: a message leaves it, as the progress of the level, only
once its target has acknowledged it. Attempts are repeated without a limit. The target gets the name
of the origin and the log position there as a property. A target of ours stores a message once, by
that key.
"""

import asyncio
import zlib
from typing import Final

import structlog
from regent_engine import Record, encode_properties

from backend.remoting import java_json
from backend.remoting.bodies import TopicRouteData
from backend.remoting.errors import RemotingError
from backend.remoting.headers import RouteHeader, SendMessageHeader, encode_header
from backend.remoting.headers.producer import SEND_MESSAGE_SHORT_KEYS
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import TEMPLATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.escape_mark import ESCAPED_FROM, ESCAPES
from workers.broker.acting.least_id import MASTER_ID
from workers.broker.broker import Broker
from workers.broker.commit_log.delay_delivery import NotYet
from workers.broker.commit_log.message import (
    CRC,
    DELAY,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_PROPERTIES,
    TRANSACTION_MARK,
    UNIQUE_KEY,
)
from workers.broker.replication.passing_on import MasterLink
from workers.broker.tables.topics import WRITABLE
from workers.broker.transactions.half_message import TRANSACTION_BITS

SEND_TIMEOUT_S: Final = 3.0
PAUSE_S: Final = 30.0
"""How long nothing escapes after a master of this group has announced itself."""

WAIT: Final = "WAIT"
_LEFT_OUT: Final = frozenset(
    {CRC, DELAY, REAL_TOPIC, REAL_QUEUE_ID, TRANSACTION_MARK, *TIMER_PROPERTIES}
)
"""What would let the message wait again, or for a decision, at its target."""

TRIES_PER_TARGET: Final = 4
"""A target that lost an answer has the message: it must get it again, and not another one."""

_SHORT_KEYS: Final = {long: short for short, long in SEND_MESSAGE_SHORT_KEYS.items()}

log = structlog.get_logger()


class EscapeBridge:
    """The way to other broker groups; belongs to the loop's thread."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._links: dict[str, MasterLink] = {}
        # The failed attempts of the messages that wait, by log position: one for each level.
        self._tries: dict[int, int] = {}
        self._paused_until_s = 0.0
        self._in_flight_count = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.escaped_count = 0

    async def pause(self) -> None:
        """Send nothing for a while: the master of this group is about to deliver itself.

        What is being sent is acknowledged, or has failed, when this returns.
        """
        self._paused_until_s = asyncio.get_running_loop().time() + PAUSE_S
        self._tries.clear()
        await self._idle.wait()

    async def send(self, log_position: int, record: Record | None) -> None:
        """Return once a master of another group has a delayed message.

        Raises:
            NotYet: no other group takes it now.
        """
        if record is None:
            return
        if asyncio.get_running_loop().time() < self._paused_until_s:
            raise NotYet("the master of this group is about to serve")
        topic = record.properties.get(REAL_TOPIC)
        if not topic:
            log.error("delayed_message_discarded", log_position=log_position, topic=topic)
            return
        self._in_flight_count += 1
        self._idle.clear()
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                address, queue_id = await self._find_target(topic, log_position)
                header = self._header(record, log_position, topic, queue_id)
                await self._send(address, header, record)
        except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
            self._tries[log_position] = 1 + self._tries.get(log_position, 0)
            reason = str(error) or "there is no answer in time"
            raise NotYet(f"the message at {log_position} did not escape: {reason}") from error
        finally:
            self._in_flight_count -= 1
            if not self._in_flight_count:
                self._idle.set()
        self._tries.pop(log_position, None)
        self.escaped_count += 1

    def close(self) -> None:
        """Close the connections."""
        for link in self._links.values():
            link.retire()
        self._links.clear()

    async def _find_target(self, topic: str, log_position: int) -> tuple[str, int]:
        """Return the address of a master of another group, and a queue there.

        The next attempts for a message go to the same queue, later ones to another one.

        Raises:
            ConnectionError: no other group of this cluster takes messages of the topic.
        """
        source = self._broker.name_servers
        if source is None:
            raise ConnectionError("this broker has no name server")
        header = RouteHeader(topic=topic, accept_standard_json_only=True)
        answer = await source.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, encode_header(header))
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"no route of the topic {topic} is known")
        route, settings = java_json.decode(answer.body, TopicRouteData), self._broker.settings
        masters = {
            one.broker_name: one.addresses[MASTER_ID]
            for one in route.brokers
            if one.cluster == settings.cluster_name
            and one.broker_name != settings.broker_name
            and MASTER_ID in one.addresses
        }
        queues = [
            (masters[one.broker_name], queue_id)
            for one in route.queues
            if one.broker_name in masters and one.permissions & WRITABLE
            for queue_id in range(one.write_queue_count)
        ]
        if not queues:
            raise ConnectionError(f"no other broker group takes messages of the topic {topic}")
        turn = self._tries.get(log_position, 0) // TRIES_PER_TARGET
        first = zlib.crc32(log_position.to_bytes(8))
        return sorted(queues)[(first + turn) % len(queues)]

    def _header(
        self, record: Record, log_position: int, topic: str, queue_id: int
    ) -> SendMessageHeader:
        settings = self._broker.settings
        key = f"{settings.cluster_name}/{settings.broker_name}/{log_position}"
        kept = {name: one for name, one in record.properties.items() if name not in _LEFT_OUT}
        added = {ESCAPED_FROM: key, WAIT: "false"}
        properties = encode_properties({UNIQUE_KEY: key} | kept | added)
        inner_group = f"InnerProducerGroup_{settings.broker_name}_{settings.broker_id}"
        return SendMessageHeader(
            producer_group=record.properties.get("PGROUP") or inner_group,
            topic=topic,
            default_topic=TEMPLATE_TOPIC,
            default_topic_queue_count=settings.template_queue_count,
            queue_id=queue_id,
            sys_flag=record.sys_flag & ~TRANSACTION_BITS,
            born_timestamp_ms=record.born_timestamp_ms,
            flag=record.flag,
            properties=properties.decode(),
            reconsume_times=record.reconsume_times,
        )

    async def _send(self, address: str, header: SendMessageHeader, record: Record) -> None:
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = MasterLink(address)
        ext = {_SHORT_KEYS[name]: value for name, value in encode_header(header).items()}
        ext[ESCAPES] = "true"
        async with link.connected() as requester:
            answer = await requester.call(RequestCode.SEND_MESSAGE_V2, ext=ext, body=record.body)
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"{address} refused it with code {answer.code}: {answer.remark}")
