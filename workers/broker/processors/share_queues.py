"""List share queues and what consumers have of them, and release it (our 7031-7033, 7036, 7037).

Only the master knows what consumers have: acquisitions are in its memory alone (ADR 22).
"""

from functools import partial
from typing import Final

from regent_engine import Command, HeldShare, HeldShareMessage

from backend.remoting import java_json
from backend.remoting.bodies.shares import (
    ReleaseSharesBody,
    ShareMessageBody,
    ShareMessagesBody,
    ShareQueueBody,
    ShareQueuesBody,
    ShareStateBody,
    ShareStatesBody,
)
from backend.remoting.command import answer
from backend.remoting.headers import decode_header
from backend.remoting.headers.shares import (
    CompactShareQueuesHeader,
    ShareQueueHeader,
    ShareQueuesHeader,
    TakeShareQueuesHeader,
)
from backend.remoting.request_code import FIRST_PROTOCOL_VERSION, RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.led_queue import find_led
from workers.broker.logical.positions import end_of
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves
from workers.broker.shares.share_mode import mode_of

LISTED_COUNT_MAX: Final = 10_000
"""The number of share queues that fit a frame of 16 MiB with names of ordinary length."""

CONNECTION_ELSEWHERE: Final = 0
"""What the engine says of a client that another member answered, or a former process."""


@serves(RequestCode.GET_SHARE_QUEUES, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_share_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the share queues that this broker owns, by topic and group."""
    header = decode_header(ShareQueuesHeader, command.ext)
    names = {"topic": header.topic, "group": header.consumer_group}
    held, total_count = await broker.read_threads.measure(
        partial(broker.hot.list_shares, broker.elapsed_ms(), LISTED_COUNT_MAX, **names)
    )
    body = ShareQueuesBody(
        is_leading=broker.shares.is_leading,
        led_ms=broker.shares.led_ms,
        total_count=total_count,
        queues=[_queue(broker, one) for one in held],
        protocol_version=broker.hot.shares_version,
    )
    return answer(command, body=java_json.encode(body))


@serves(RequestCode.GET_SHARE_MESSAGES, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_share_messages(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return a share queue, and its messages that were delivered and are not finished."""
    header = decode_header(ShareQueueHeader, command.ext)
    topic, group = header.topic, header.consumer_group
    elapsed_ms = broker.elapsed_ms()
    held, _ = await broker.read_threads.measure(
        partial(broker.hot.list_shares, elapsed_ms, LISTED_COUNT_MAX, topic=topic, group=group)
    )
    queue = next((one for one in held if one.queue_id == header.queue_id), None)
    messages = broker.hot.share_messages(topic, header.queue_id, group, broker.elapsed_ms())
    body = ShareMessagesBody(
        is_leading=broker.shares.is_leading,
        led_ms=broker.shares.led_ms,
        queue=None if queue is None else _queue(broker, queue),
        messages=_messages(broker, topic, group, messages),
    )
    return answer(command, body=java_json.encode(body))


def _release_target(broker: Broker, command: Command) -> FenceTarget:
    order = java_json.decode(command.body or b"{}", ReleaseSharesBody)
    topic, queue_id, group = order.topic, order.queue_id, order.consumer_group
    wanted = {(one.offset, one.pop_time_ms, one.tag) for one in order.holds}

    def read() -> dict[str, int]:
        held = broker.hot.share_messages(topic, queue_id, group, broker.elapsed_ms())
        acquired = {
            (one.offset, one.pop_time_ms, one.tag) for one in held if one.connection_id is not None
        }
        return {"acquired": len(acquired & wanted)}

    return FenceTarget(f"messages of {group} in queue {queue_id} of {topic}", read)


@serves(
    RequestCode.RELEASE_SHARE_MESSAGES,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=False,
    target=_release_target,
)
def on_release_share_messages(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Deliver the named messages again that consumers have by the named deliveries still."""
    order = java_json.decode(command.body or b"{}", ReleaseSharesBody)
    holds = [(one.offset, one.pop_time_ms, one.tag) for one in order.holds]
    broker.shares.release(order.topic, order.queue_id, order.consumer_group, holds)
    return answer(command)


@serves(RequestCode.TAKE_SHARE_QUEUES, role=RequiredRole.MASTER_TAKES, passed_on=False, target=None)
async def on_take_share_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give the share queues of a logical queue to its next leader (queue-ownership.md 4.19).

    From then on no message is delivered or finished here. The answer waits until each later master
    of this broker group knows that. A repeated request has the same answer.
    """
    header = decode_header(TakeShareQueuesHeader, command.ext)
    if not broker.shares.is_leading or broker.shares.is_acting:
        reason = "this broker does not own the share queues of its group now: try again"
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
    name, global_id = header.topic, header.global_id
    topic = broker.static_topics.find(name)
    if topic is None:
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, f"the topic[{name}] is not static")
    if topic.mapping.leads(global_id) and global_id not in topic.seals:
        reason = f"logical queue {global_id} of topic[{name}] is led here, and is not sealed"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason)
    if broker.hot.give_shares_away(name, [global_id]):
        broker.membership.appended()
    states = [
        ShareStateBody(consumer_group=group, epoch=epoch, record=record)
        for group, epoch, record in broker.hot.shares_given_away(
            name, global_id, broker.elapsed_ms()
        )
    ]
    reply = answer(command, body=java_json.encode(ShareStatesBody(states=states)))
    late = answer(command, code=ResponseCode.SYSTEM_BUSY, remark="the disk needs longer")
    return await broker.membership.stored(broker.hot.shares_end, reply, late)


def _lane_target(broker: Broker, _command: Command) -> FenceTarget:
    def read() -> dict[str, int | None]:
        return {"version": broker.hot.shares_version}

    # The lane is that of the group: the change is made once each later master has its records.
    return FenceTarget("the version of the share queues", read, is_own=False)


@serves(
    RequestCode.COMPACT_SHARE_QUEUES,
    role=RequiredRole.MASTER_CHANGES,
    passed_on=False,
    target=_lane_target,
)
async def on_compact_share_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Write the lane again in records of a former version (queue-ownership.md 4.15).

    The answer waits until each later master of this broker group has the records.
    """
    version = decode_header(CompactShareQueuesHeader, command.ext).version
    newest = broker.settings.protocol_version_max
    if not FIRST_PROTOCOL_VERSION <= version <= newest:
        reason = f"this broker writes records of the versions {FIRST_PROTOCOL_VERSION} to {newest}"
        raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
    if not broker.shares.compact(version):
        reason = "this broker does not own the share queues of its group now: try again"
        raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
    late = answer(command, code=ResponseCode.SYSTEM_BUSY, remark="the disk needs longer")
    return await broker.membership.stored(broker.hot.shares_end, answer(command), late)


def _queue(broker: Broker, held: HeldShare) -> ShareQueueBody:
    order = broker.request_modes.find(held.topic, held.group)
    max_offset = _max_offset(broker, held)
    return ShareQueueBody(
        topic=held.topic,
        queue_id=held.queue_id,
        consumer_group=held.group,
        mode=mode_of(broker.topics.find(held.topic)),
        consume_mode=None if order is None else order.mode,
        epoch=held.epoch,
        reset_epoch=held.reset_epoch,
        is_used=held.is_used,
        is_ordered=held.is_ordered,
        attempt_count_max=held.attempts,
        discards=held.discards,
        start=held.start,
        end=held.end,
        max_offset=max_offset,
        window_size=held.window,
        acquired_count=held.acquired_count,
        returned_count=held.returned_count,
        finished_count=held.finished_count,
        oldest_acquired_ms=_age_ms(broker, held.oldest_acquired_at_ms),
        oldest_delivered_ms=_age_ms(broker, held.oldest_delivered_at_ms),
        delivered_count=held.delivered_count,
        redelivered_count=held.redelivered_count,
        accepted_count=held.accepted_count,
        dead_letter_count=held.dead_lettered_count,
        discarded_count=held.discarded_count,
        retried_count=held.retried_count,
    )


def _max_offset(broker: Broker, held: HeldShare) -> int:
    static = broker.static_topics.find(held.topic)
    if static is not None:
        try:
            led = find_led(broker, {}, held.topic, held.queue_id)
        except Refusal:
            # It has left, or its mapping is undecided.
            return held.end
        return held.end if led is None else end_of(broker, led)
    _, max_offset = broker.store.offsets(held.topic, held.queue_id) or (0, 0)
    return max_offset


def _age_ms(broker: Broker, at_ms: int | None) -> int | None:
    return None if at_ms is None else max(0, broker.clock() - at_ms)


def _messages(
    broker: Broker, topic: str, group: str, messages: list[HeldShareMessage]
) -> list[ShareMessageBody]:
    """Name the consumers that have messages: a member, a client that left, or neither."""
    online = broker.consumers.find(group)
    members = {} if online is None else online.members
    client_ids = {one.connection_id: client.client_id for one, client in members.items()}
    present = set(client_ids.values())
    # Deadlines are in the lane where other members may own the share queue, so all have one clock.
    is_shared = broker.member_shares.is_shared(topic)
    now_ms = broker.clock() if is_shared else broker.elapsed_ms()
    bodies = []
    for one in messages:
        connection_id, client_id, is_connected = one.connection_id, None, False
        if connection_id is not None:
            departed = broker.shares.departed.find(connection_id, group)
            client_id = client_ids.get(connection_id, departed)
            is_open = departed is None and broker.polling.is_open(connection_id)
            # Only the member with its connection knows: the client must not pass for gone.
            is_elsewhere = connection_id == CONNECTION_ELSEWHERE
            is_connected = is_elsewhere or is_open or client_id in present
        bodies.append(
            ShareMessageBody(
                offset=one.offset,
                pop_time_ms=one.pop_time_ms,
                tag=one.tag,
                is_acquired=connection_id is not None,
                client_id=client_id,
                is_connected=is_connected,
                acquired_ms=max(0, broker.clock() - one.pop_time_ms),
                delivered_ms=max(0, broker.clock() - one.first_pop_ms),
                due_in_ms=max(0, one.due_ms - now_ms),
                delivery_count=one.count,
            )
        )
    return bodies
