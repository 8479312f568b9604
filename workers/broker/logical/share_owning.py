"""Own the share queues of logical queues, and take them over with a move (queue-ownership.md 4.19).

The queue id of such a share queue is the global id, its offsets are logical, and the leader of the
logical queue owns it. The former leader gives its state away once the queue is sealed: from then on
it finishes no message. The next leader asks for the state when it begins to lead, and in any case
before it hands out or finishes the first message. So no state is lost if an answer is.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from regent_engine import LeadingQueues, StoreError

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.segment import QueueBounds, QueueSegment
from backend.remoting import java_json
from backend.remoting.bodies import SubscriptionGroupConfig
from backend.remoting.bodies.shares import ShareStateBody, ShareStatesBody
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical import positions
from workers.broker.logical.leading import leading_segments
from workers.broker.logical.led_queue import LedQueue, find_led, not_leading
from workers.broker.logical.older_segments import reader_of_all
from workers.broker.logical.segments import ask_owner, is_here
from workers.broker.shares.share_queues import FROM_END, policy_of

TIMEOUT_S: Final = 1.0
"""The wait for the state of a share queue: consumers of other queues wait with it."""

ATTEMPT_COUNT: Final = 3
"""A state of a later lease epoch makes this broker own all its share queues again."""

READ_COUNT: Final = 32

_NO_POP: Final = frozenset({int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)})
"""The answer of a broker of an earlier version: it has no share queues of static topics."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a share queue begins: at a logical offset, or with the state of its last owner."""

    start: int = 0
    state: bytes | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """The share queues of a group in a static topic, and how new ones begin."""

    topic_name: str
    group: SubscriptionGroupConfig
    init_mode: int = 0
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class Owned:
    """The logical queues whose share queues of a group are owned here."""

    wish: Wish
    global_ids: list[int]
    leading: LeadingQueues
    failures: Mapping[int, Refusal]
    """Why other ones are not."""

    def check(self, global_id: int) -> None:
        """Check that a logical queue is among them.

        Raises:
            Refusal: a former leader does not answer, or the queue is about to move.
        """
        if global_id in self.failures:
            raise self.failures[global_id]
        if global_id not in self.global_ids:
            place = f"logical queue {global_id} of topic[{self.wish.topic_name}]"
            raise Refusal(ResponseCode.SYSTEM_BUSY, f"{place} is being moved: try again")


def check_confirmed(broker: Broker, topic_name: str) -> None:
    """Check that this broker group knows which queues of a static topic it leads (INV-34).

    Raises:
        Refusal: another broker group may lead them, and deliver the same messages.
    """
    if not broker.leading.is_confirmed(topic_name):
        reason = (
            f"the mapping of the static topic[{topic_name}] is not confirmed by the control plane"
            " yet: try again"
        )
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)


def is_given_away(broker: Broker, topic: BrokerTopic, global_id: int) -> bool:
    """Return whether a sealed queue has share queues whose state its next leader has."""
    if global_id not in topic.seals:
        return False
    name = topic.info.topic_name
    return bool(broker.hot.shares_given_away(name, global_id, broker.elapsed_ms()))


async def own_queue(broker: Broker, topic_name: str, global_id: int, group_name: str) -> None:
    """Own the share queue of a message that a consumer has; other topics need nothing.

    Raises:
        NotLeading: another broker group owns it, or is about to.
        Refusal: its state is unknown: a former leader of the logical queue does not answer.
    """
    topic = broker.static_topics.find(topic_name)
    if topic is None:
        return
    find_led(broker, {}, topic_name, global_id)
    check_confirmed(broker, topic_name)
    wish = Wish(topic_name, broker.check_group_exists(group_name))
    if _is_leaving(broker, topic, global_id, wish):
        raise not_leading(topic, global_id)
    (await own(broker, wish, global_id)).check(global_id)


async def own(broker: Broker, wish: Wish, only: int | None = None) -> Owned:
    """Own all share queues that are missing, or only one; return what is owned then.

    Raises:
        Refusal: this broker is not master any more.
        StoreError: the store refused the records.
    """
    failures: dict[int, Refusal] = {}
    for _ in range(ATTEMPT_COUNT):
        missing = [one for one in _missing(broker, wish) if one not in failures]
        if only is not None:
            missing = [one for one in missing if one == only]
        if not missing:
            break
        found = await asyncio.gather(*(_try_origin(broker, wish, one) for one in missing))
        origins = dict(zip(missing, found, strict=True))
        failures |= {one: it for one, it in origins.items() if isinstance(it, Refusal)}
        broker.membership.check(RequiredRole.MASTER_TAKES)
        begun = {one: it for one, it in origins.items() if isinstance(it, Origin)}
        _begin(broker, wish, begun)
    missing = _missing(broker, wish)
    segments = {one: it for one, it in _leading(broker, wish).items() if one not in missing}
    return Owned(wish, sorted(segments), LeadingQueues(segments), failures)


async def take_over(broker: Broker, topic_name: str, global_ids: Iterable[int]) -> None:
    """Own the share queues of logical queues that this broker group has begun to lead.

    What fails now is done before a consumer gets the first message.
    """
    for global_id in global_ids:
        try:
            led = find_led(broker, {}, topic_name, global_id)
            if led is None:
                return
            async with asyncio.timeout(TIMEOUT_S):
                names = {one.consumer_group for one in await _former_states(broker, led)}
            for group in filter(None, map(broker.groups.find, sorted(names))):
                await own(broker, Wish(topic_name, group), global_id)
        except (TimeoutError, Refusal, InvalidJson, ValueError, StoreError) as error:
            reason = str(error) or "there is no answer in time"
            log.warning("share_queues_not_taken_over", topic_name=topic_name, reason=reason)


async def fetch_next(broker: Broker, wish: Wish, global_id: int) -> None:
    """Read the next messages of a group into memory, wherever they are stored.

    Raises:
        Refusal: the broker group of the segment does not answer.
    """
    name = wish.topic_name, global_id, wish.group.name
    led = find_led(broker, {}, wish.topic_name, global_id)
    if led is None:
        return
    offset = broker.hot.older_wish(*name, broker.elapsed_ms())
    if offset is None:
        offset = await next_of_group(broker, led, wish.group.name)
        if offset >= led.leader.logical_start:
            # What lies on the disk is in memory then, and the POP finds it there.
            await read_logical(broker, led, wish.group.name, offset, READ_COUNT)
        return
    next_offset, records = await read_logical(broker, led, wish.group.name, offset, READ_COUNT)
    if next_offset > offset:
        broker.hot.put_older(*name, offset, next_offset, records)


async def next_of_group(broker: Broker, led: LedQueue, group_name: str) -> int:
    """Return the logical offset of the next message of a group.

    Raises:
        Refusal: the broker group of a segment does not answer.
    """
    name = led.topic_name, led.queue.global_id, group_name
    offset = broker.hot.next_of_share(*name, broker.elapsed_ms())
    if offset is None:
        offset = await positions.committed_position(broker, led, group_name)
    return await positions.begin_of(broker, led) if offset is None else offset


async def read_logical(
    broker: Broker, led: LedQueue, group_name: str, offset: int, count_max: int
) -> tuple[int, bytes]:
    """Return where a reader goes on, and the records of a logical queue from an offset on.

    Raises:
        Refusal: the broker group of the segment does not answer.
    """
    reader = reader_of_all(broker, led, group_name, offset, count_max=count_max)
    read = await reader.read()
    earlier: QueueBounds | None = None
    segment = reader.located.segment
    if read is not None and segment != led.leader and not segment.is_ended:
        # Readers leave an open segment that rests, as pulls do (logical-queues.md 9.6).
        name = led.topic_name, led.queue.global_id, segment.generation
        earlier = broker.share_moves.earlier_report(name, read.bounds)
    _, next_offset = reader.decide(read, earlier=earlier)
    return next_offset, b"" if read is None else reader.as_logical(read)


def place_of_record(
    broker: Broker, topic_name: str, queue_id: int, offset: int
) -> tuple[int, int] | None:
    """Return queue id and offset of a stored message as its share queue names it.

    None: another broker group leads its logical queue.
    """
    topic = broker.static_topics.find(topic_name)
    if topic is None:
        return queue_id, offset
    for global_id, segments in topic.mapping.hosted.items():
        if not topic.mapping.leads(global_id):
            continue
        for segment in segments:
            if is_here(broker, segment) and _holds(segment, queue_id, offset):
                return global_id, segment.to_logical_strict(offset)
    return None


def _holds(segment: QueueSegment, queue_id: int, offset: int) -> bool:
    is_before_end = not segment.is_ended or offset < segment.physical_end
    return segment.queue_id == queue_id and segment.physical_start <= offset and is_before_end


def _leading(broker: Broker, wish: Wish) -> Mapping[int, tuple[int, int, int, bool]]:
    """Return the last segments of the queues that are led here, without those that leave."""
    topic = broker.static_topics.find(wish.topic_name)
    if topic is None:
        return {}
    return {
        global_id: segment
        for global_id, segment in leading_segments(topic).items()
        if not _is_leaving(broker, topic, global_id, wish)
    }


def _is_leaving(broker: Broker, topic: BrokerTopic, global_id: int, wish: Wish) -> bool:
    known = broker.hot.share_ownership(wish.topic_name, global_id, wish.group.name)
    return global_id in topic.seals and known is not None and not known[1]


def _missing(broker: Broker, wish: Wish) -> list[int]:
    attempts, discards = policy_of(wish.group)
    return broker.hot.missing_shares(
        wish.topic_name,
        wish.group.name,
        0,
        attempts=attempts,
        discards=discards,
        leading=LeadingQueues(_leading(broker, wish)),
    )


def _begin(broker: Broker, wish: Wish, origins: Mapping[int, Origin]) -> None:
    """Own share queues that are still missing; the mapping may have changed meanwhile."""
    still = [one for one in _missing(broker, wish) if one in origins]
    if not still:
        return
    attempts, discards = policy_of(wish.group)
    states = {one: state for one in still if (state := origins[one].state) is not None}
    broker.hot.begin_shares(
        wish.topic_name,
        wish.group.name,
        [(one, origins[one].start) for one in still],
        attempts=attempts,
        discards=discards,
        is_ordered=wish.is_ordered,
        leading=LeadingQueues(_leading(broker, wish)),
        states=states,
        elapsed_ms=broker.elapsed_ms(),
    )
    broker.membership.appended()


async def _try_origin(broker: Broker, wish: Wish, global_id: int) -> Origin | Refusal:
    name = wish.topic_name, global_id, wish.group.name
    place = f"logical queue {global_id} of topic[{wish.topic_name}]"
    async with broker.share_moves.question(name):
        reason = broker.share_moves.find_reason(name)
        if reason is None:
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    return await _find_origin(broker, wish, global_id)
            except (TimeoutError, Refusal, InvalidJson) as error:
                reason = str(error) or "there is no answer in time"
                log.warning("share_queue_not_owned", place=place, reason=reason)
                broker.share_moves.note_unknown(name, reason)
    remark = (
        f"it is unknown which messages of {place} are finished, since a former leader of the"
        " queue does not answer: start that broker group, or commit an offset of the last"
        f" segment for the group, which skips the messages before ({reason})"
    )
    return Refusal(ResponseCode.SYSTEM_BUSY, remark)


async def _find_origin(broker: Broker, wish: Wish, global_id: int) -> Origin:
    """Return the newest state of a share queue: here, or at a former leader; else its start."""
    group_name = wish.group.name
    known = broker.hot.share_ownership(wish.topic_name, global_id, group_name)
    if known is not None and known[1]:
        return Origin()
    led = find_led(broker, {}, wish.topic_name, global_id)
    if led is None:
        reason = f"the topic[{wish.topic_name}] is not static any more"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)
    committed = broker.offsets.find(group_name, wish.topic_name, led.leader.queue_id)
    if known is None and committed is not None and committed >= led.leader.physical_start:
        # What former leaders know ends before the last segment, and is behind the group.
        return Origin(led.leader.to_logical_strict(committed))
    states = [one for one in await _former_states(broker, led) if one.consumer_group == group_name]
    newest = max(states, key=lambda one: one.epoch, default=None)
    if newest is not None and (known is None or newest.epoch > known[0]):
        return Origin(state=newest.record)
    return Origin() if known is not None else Origin(await _start(broker, wish, led))


async def _start(broker: Broker, wish: Wish, led: LedQueue) -> int:
    """Return where a group without state begins: at its committed offset, or as it asks."""
    committed = await positions.committed_position(broker, led, wish.group.name)
    if committed is not None:
        return max(0, committed)
    if wish.init_mode == FROM_END:
        return positions.end_of(broker, led)
    return await positions.begin_of(broker, led)


async def _former_states(broker: Broker, led: LedQueue) -> list[ShareStateBody]:
    """Return the states that the broker groups of older segments have given away."""
    former = {one.broker_group_name: one for one in led.queue.decided if not is_here(broker, one)}
    found = await asyncio.gather(*(_ask_former(broker, led, one) for one in former.values()))
    return [state for states in found for state in states]


async def _ask_former(broker: Broker, led: LedQueue, segment: QueueSegment) -> list[ShareStateBody]:
    fields = {"globalId": str(led.queue.global_id)}
    code = RequestCode.TAKE_SHARE_QUEUES
    reply = await ask_owner(broker, led.topic_name, segment, code, fields, none=_NO_POP)
    if reply.code in _NO_POP:
        return []
    return java_json.decode(reply.body or b"{}", ShareStatesBody).states
