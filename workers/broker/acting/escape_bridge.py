"""Send messages that are due at an acting master to the masters of other broker groups (D17).

The queues of messages that wait are the durable outbox: a message leaves them only once its target
has acknowledged it. What is done with beyond their progress is in `EscapedMessages`, which the
returning master takes over. The target gets the name of the origin and the log position there as a
property. A target of ours stores a message once, by that key.

A message of a delay level or for a time escapes when it is due, and a half message once its
producer has committed it. A half message whose producer is not connected here escapes as a half
message: then the target asks the producer (S131).
"""

import asyncio
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import structlog
from regent_engine import Record, StoreError, encode_properties

from backend.remoting import java_json
from backend.remoting.bodies import TopicRouteData
from backend.remoting.bodies.outbox import OutboxBody, OutboxTopicBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers import (
    EndTransactionHeader,
    RouteHeader,
    SendMessageHeader,
    encode_header,
)
from backend.remoting.headers.producer import SEND_MESSAGE_SHORT_KEYS
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import TEMPLATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from workers.broker.acting.decisions import Decisions
from workers.broker.acting.escape_mark import ESCAPED_FROM, ESCAPES
from workers.broker.acting.local_masters import LocalMasters
from workers.broker.acting.outbox import Entry, Kind, Lane, Outbox
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
from workers.broker.commit_log.timed_message import OUT_MS
from workers.broker.replication.passing_on import MasterLink
from workers.broker.tables.topics import WRITABLE
from workers.broker.transactions.half_message import (
    CHECK_COUNT,
    FIRST_OFFSET,
    PRODUCER_GROUP,
    TRANSACTION_BITS,
)
from workers.broker.transactions.pending import first_position_of, read_or_report

SEND_TIMEOUT_S: Final = 3.0
PAUSE_S: Final = 30.0
"""How long nothing escapes after a master of this group has announced itself."""

TURN_COUNT: Final = 64
"""The committed messages that one turn of the event loop reads for the outbox."""

ROUTE_FRESH_S: Final = 1.0
ROUTE_COUNT_MAX: Final = 4_096

WAIT: Final = "WAIT"
PREPARED: Final = 4
"""The transaction bits of the sysFlag of a half message that a producer sends."""

_SET_HERE: Final = {CRC, REAL_TOPIC, REAL_QUEUE_ID}
_OF_HALVES: Final = {CHECK_COUNT, FIRST_OFFSET}
_OF_WAITING: Final = {DELAY, OUT_MS, TRANSACTION_MARK, *TIMER_PROPERTIES}
_LEFT_OUT: Final = {
    Kind.DELAYED: frozenset(_SET_HERE | _OF_WAITING),
    Kind.TIMED: frozenset(_SET_HERE | _OF_WAITING),
    Kind.COMMITTED: frozenset(_SET_HERE | _OF_HALVES | {TRANSACTION_MARK}),
    Kind.UNDECIDED: frozenset(_SET_HERE | _OF_HALVES),
}
"""What would let the message wait again at its target; a committed one begins to wait there."""

_SHORT_KEYS: Final = {long: short for short, long in SEND_MESSAGE_SHORT_KEYS.items()}

Target = tuple[str, int]
"""The address of a master of another broker group, and a queue there."""

log = structlog.get_logger()


class EscapeBridge:
    """The way to other broker groups; belongs to the loop's thread."""

    def __init__(self, broker: Broker, decisions: Decisions) -> None:
        self._broker, self._decisions = broker, decisions
        self._links: dict[str, MasterLink] = {}
        self._routes: dict[str, tuple[float, list[Target]]] = {}
        self._local = LocalMasters(broker)
        self._paused_until_s = 0.0
        self._in_flight_count = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_open = False
        # Decisions whose messages came when the outbox had no room, or that are from the file.
        self._left: deque[int] = deque()
        self._outbox = Outbox(self._escape, clock=broker.clock)
        self.escaped_count = 0

    def __len__(self) -> int:
        """Return the number of messages in the outbox."""
        return len(self._outbox)

    def begin(self) -> None:
        """Let messages escape from now on."""
        self._is_open = True
        self._broker.state.delays.escape_by(self._take_delayed)
        self._broker.timers.escape_by(self._take_timed)
        self._left.extend(self._decisions.kept)
        self.tick()

    def end(self) -> None:
        """Let nothing escape any more; what is in the outbox waits for the master."""
        self._is_open = False
        self._broker.state.delays.escape_by(None)
        self._broker.timers.escape_by(None)
        self._outbox.clear()
        self._left.clear()
        self._routes.clear()

    def tick(self) -> None:
        """Let some of the committed messages escape that found no room in the outbox before."""
        for _ in range(min(TURN_COUNT, len(self._left))):
            if not self._outbox.has_room(Kind.COMMITTED):
                return
            self._take_committed(self._left.popleft())

    async def pause(self) -> None:
        """Send nothing for a while: the master of this group is about to deliver itself.

        What is being sent is acknowledged, or has failed, when this returns.
        """
        self._paused_until_s = asyncio.get_running_loop().time() + PAUSE_S
        await self._idle.wait()

    def prolong_pause(self) -> None:
        """Go on to send nothing: a master of this group is there."""
        now_s = asyncio.get_running_loop().time()
        if now_s < self._paused_until_s:
            self._paused_until_s = now_s + PAUSE_S

    def close(self) -> None:
        """Close the connections."""
        for link in self._links.values():
            link.retire()
        self._links.clear()

    def describe(self) -> OutboxBody:
        """Describe what waits in the outbox, by topic (7024)."""
        now_ms = self._broker.clock()
        topics: dict[tuple[Kind, str], list[Lane]] = {}
        for kind, lane in self._outbox.lanes():
            topics.setdefault((kind, lane.topic), []).append(lane)
        return OutboxBody(
            is_open=self._is_open,
            escaped_count=self.escaped_count,
            entry_count=len(self._outbox),
            topics=[
                _described(kind, topic, lanes, now_ms) for (kind, topic), lanes in topics.items()
            ],
        )

    # What comes into the outbox.

    async def _take_delayed(
        self, level: int, log_position: int, record: Record | None, gone: Callable[[], None]
    ) -> None:
        if record is None:
            # Damaged here only, as far as this replica knows: the master may have it intact.
            return
        queue = _queue_of(record)
        if queue is None:
            log.error("delayed_message_discarded", log_position=log_position)
            gone()
        elif log_position in self._broker.state.escaped:
            gone()
        else:
            await self._outbox.room(Kind.DELAYED, level)
            self._outbox.add(Entry(log_position, Kind.DELAYED, *queue, level, gone))

    def _take_timed(self, messages: Sequence[tuple[int, str, int]]) -> None:
        escaped = self._broker.state.escaped
        for log_position, topic, queue_id in messages:
            if log_position not in escaped:
                self._outbox.add(Entry(log_position, Kind.TIMED, topic, queue_id))

    def take_decision(self, log_position: int) -> None:
        """Let a half message escape, by its first record, whose commit waits for the master."""
        if self._is_open:
            self._left.append(log_position)
            self.tick()

    def _take_committed(self, log_position: int) -> None:
        if log_position not in self._outbox and self._decisions.is_commit_due(log_position):
            half = read_or_report(self._broker.store, log_position)
            if half is not None:
                self._add_half(
                    half, log_position, Kind.COMMITTED, self._decisions.kept[log_position]
                )

    def take_half(self, half: Record) -> bool:
        """Let a half message escape as one; return False if nothing may escape.

        Without room for it the next check of pending transactions brings it again.
        """
        if self._is_open and self._outbox.has_room(Kind.UNDECIDED):
            roll_back = EndTransactionHeader(
                producer_group=half.properties.get(PRODUCER_GROUP, ""),
                queue_offset=half.queue_offset,
                log_position=half.log_position,
                decision=TRANSACTION_BITS,
                from_check=True,
            )
            first = first_position_of(self._broker.store, half)
            self._add_half(half, first, Kind.UNDECIDED, encode_header(roll_back))
        return self._is_open

    def _add_half(
        self, half: Record, first_position: int, kind: Kind, fields: Mapping[str, str]
    ) -> None:
        queue = _queue_of(half)
        if queue is not None:
            gone = partial(self._decisions.note_escape, first_position, fields, kind)
            self._outbox.add(Entry(first_position, kind, *queue, gone=gone))

    def withdraw(self, log_position: int) -> bool:
        """Take a half message out of the outbox; return False if it is being sent."""
        return self._outbox.withdraw(log_position)

    # How it leaves.

    async def _escape(self, entry: Entry, turn: int) -> None:
        """Return once a master of another group has a message, or none needs it.

        Raises:
            NotYet: no other group takes it now.
        """
        pause_s = self._paused_until_s - asyncio.get_running_loop().time()
        if pause_s > 0:
            raise NotYet("the master of this group is about to serve")
        self._in_flight_count += 1
        self._idle.clear()
        try:
            if not self._is_void(entry):
                record = await self._read(entry)
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    address, queue_id = await self._find_target(entry, turn)
                    header = self._header(record, entry, queue_id)
                    await self._send(address, header, record)
                self.escaped_count += 1
            self._broker.state.escaped.add(entry.log_position)
        except (OSError, TimeoutError, RemotingError, InvalidJson, StoreError) as error:
            self._routes.pop(entry.topic, None)
            reason = str(error) or "there is no answer in time"
            raise NotYet(f"the message at {entry.log_position} did not escape: {reason}") from error
        finally:
            self._in_flight_count -= 1
            if not self._in_flight_count:
                self._idle.set()

    def _is_void(self, entry: Entry) -> bool:
        """Return whether none needs a message: its topic was deleted since."""
        broker = self._broker
        deleted_at = broker.changes.deleted_at(entry.topic)
        is_void = entry.log_position < deleted_at and broker.topics.find(entry.topic) is not None
        if is_void:
            log.info("escape_to_deleted_topic", topic_name=entry.topic)
        return is_void

    async def _read(self, entry: Entry) -> Record:
        """Read a message.

        Raises:
            NotYet: it is damaged here, so it waits for the master, which may have it intact.
            StoreError: the log can't be read now.
        """
        broker = self._broker
        read = partial(read_or_report, broker.store, entry.log_position)
        record = await broker.read_threads.read(read)
        if record is None:
            raise NotYet(
                f"the message at {entry.log_position} is damaged in the log of this replica"
            )
        return record

    async def _find_target(self, entry: Entry, turn: int) -> Target:
        """Return where a message goes: messages of one queue go to one queue, in their order.

        A master in this process comes first (S127).

        Raises:
            ConnectionError: no other group of this cluster takes messages of the topic.
        """
        settings, local = self._broker.settings, self._local.targets(entry.topic)
        if local and not (settings.escapes and turn % 2):
            targets = local
        elif settings.escapes:
            targets = await self._remote_targets(entry.topic)
        else:
            reason = f"no other master of this process takes messages of the topic {entry.topic}"
            raise ConnectionError(reason)
        own = f"{settings.broker_name}/{entry.topic}/{entry.queue_id}"
        return targets[(zlib.crc32(own.encode()) + turn) % len(targets)]

    async def _remote_targets(self, topic: str) -> list[Target]:
        now_s = asyncio.get_running_loop().time()
        asked_s, targets = self._routes.get(topic, (now_s - ROUTE_FRESH_S, []))
        if now_s - asked_s >= ROUTE_FRESH_S:
            targets = await self._ask_targets(topic)
            if len(self._routes) >= ROUTE_COUNT_MAX:
                self._routes.clear()
            self._routes[topic] = now_s, targets
        return targets

    async def _ask_targets(self, topic: str) -> list[Target]:
        source, settings = self._broker.name_servers, self._broker.settings
        if source is None:
            raise ConnectionError("this broker has no name server")
        header = RouteHeader(topic=topic, accept_standard_json_only=True)
        answer = await source.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, encode_header(header))
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"no route of the topic {topic} is known")
        route = java_json.decode(answer.body, TopicRouteData)
        masters = {
            one.broker_name: one.addresses[MASTER_ID]
            for one in route.brokers
            if one.cluster == settings.cluster_name
            and one.broker_name != settings.broker_name
            and MASTER_ID in one.addresses
        }
        targets = [
            (masters[one.broker_name], queue_id)
            for one in route.queues
            if one.broker_name in masters and one.permissions & WRITABLE
            for queue_id in range(one.write_queue_count)
        ]
        if not targets:
            raise ConnectionError(f"no other broker group takes messages of the topic {topic}")
        return sorted(targets)

    def _header(self, record: Record, entry: Entry, queue_id: int) -> SendMessageHeader:
        settings = self._broker.settings
        key = f"{settings.cluster_name}/{settings.broker_name}/{entry.log_position}"
        left_out = _LEFT_OUT[entry.kind]
        kept = {name: one for name, one in record.properties.items() if name not in left_out}
        added = {ESCAPED_FROM: key, WAIT: "false"}
        properties = encode_properties({UNIQUE_KEY: key} | kept | added)
        inner_group = f"InnerProducerGroup_{settings.broker_name}_{settings.broker_id}"
        is_half = entry.kind is Kind.UNDECIDED
        return SendMessageHeader(
            producer_group=record.properties.get(PRODUCER_GROUP) or inner_group,
            topic=entry.topic,
            default_topic=TEMPLATE_TOPIC,
            default_topic_queue_count=settings.template_queue_count,
            queue_id=queue_id,
            sys_flag=record.sys_flag & ~TRANSACTION_BITS | (PREPARED if is_half else 0),
            born_timestamp_ms=record.born_timestamp_ms,
            flag=record.flag,
            properties=properties.decode(),
            reconsume_times=record.reconsume_times,
        )

    async def _send(self, address: str, header: SendMessageHeader, record: Record) -> None:
        ext = {_SHORT_KEYS[name]: value for name, value in encode_header(header).items()}
        ext[ESCAPES] = "true"
        code = RequestCode.SEND_MESSAGE_V2
        answer = await self._local.call(address, code, ext=ext, body=record.body)
        if answer is None:
            link = self._links.get(address)
            if link is None:
                link = self._links[address] = MasterLink(address)
            async with link.connected() as requester:
                answer = await requester.call(code, ext=ext, body=record.body)
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"{address} refused it with code {answer.code}: {answer.remark}")


def _queue_of(record: Record) -> tuple[str, int] | None:
    """Return the topic and the queue that a message was sent to; None if it names none."""
    topic = record.properties.get(REAL_TOPIC)
    queue_id = record.properties.get(REAL_QUEUE_ID, "")
    return (topic, int(queue_id)) if topic and queue_id.isdecimal() else None


def _described(kind: Kind, topic: str, lanes: Sequence[Lane], now_ms: int) -> OutboxTopicBody:
    failed = max(lanes, key=lambda one: one.failure_count)
    return OutboxTopicBody(
        kind=kind,
        topic=topic,
        entry_count=sum(len(one.entries) for one in lanes),
        oldest_age_ms=max(now_ms - one.first[1] for one in lanes),
        failure_count=failed.failure_count,
        last_failure=failed.failure,
        next_attempt_in_ms=(
            None if failed.next_at_ms is None else max(0, failed.next_at_ms - now_ms)
        ),
    )
