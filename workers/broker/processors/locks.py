"""Lock and unlock queues for ordered consumption (remoting.md 2.3: 41, 42).

The control plane lists locks (our 7003), releases those of lost holders (7004), and lists the
readers of queues (7005).
"""

import itertools
from collections.abc import Iterator
from typing import Final

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import LockBody, LockedBody, LockVoteBody, MessageQueue
from backend.remoting.bodies.locks import (
    QueueLockBody,
    QueueLocksBody,
    QueueReaderBody,
    QueueReadersBody,
    ReleaseBody,
    ReleasesBody,
)
from backend.remoting.command import answer
from backend.remoting.headers import decode_header
from backend.remoting.headers.locks import QueueLocksHeader, QueueReadersHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sifting import decode_items
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.lock_forwarding import forward_locks, is_read_here
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves
from workers.broker.tables.queue_readers import QueueReader

LISTED_COUNT_MAX: Final = 40_000
"""The number of locks that fit a frame of 16 MiB with names of ordinary length."""


def _is_vote(command: Command) -> bool:
    """Return whether another member of the group asks for the vote of this broker alone."""
    return java_json.decode(command.body or b"{}", LockVoteBody).only_this_broker


@serves(
    RequestCode.LOCK_BATCH_MQ,
    role=RequiredRole.MASTER_TAKES,
    passed_on=True,
    target=None,
    means_this_broker=_is_vote,
)
async def on_lock_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Lock queues for a client and name those it now holds, here or at their leaders (L32)."""
    wish = _wish(command)
    here = [one for one in wish.queues if is_read_here(broker, one)]
    if wish.only_this_broker:
        held = broker.locks.lock(
            wish.consumer_group, client_id=wish.client_id, queues=here, now_ms=broker.elapsed_ms()
        )
        return answer(command, body=java_json.encode(LockedBody(queues=held)))
    held = await broker.membership.lock(wish, here)
    elsewhere = [one for one in wish.queues if one not in here]
    held += await forward_locks(broker, command, wish, elsewhere)
    return answer(command, body=java_json.encode(LockedBody(queues=held)))


@serves(
    RequestCode.UNLOCK_BATCH_MQ,
    role=RequiredRole.ANY,
    passed_on=True,
    target=None,
    means_this_broker=_is_vote,
)
async def on_unlock_queues(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Unlock the queues that a client names, here, at other members and at their leaders."""
    wish = _wish(command)
    if wish.only_this_broker:
        broker.locks.unlock(wish.consumer_group, client_id=wish.client_id, queues=wish.queues)
        return answer(command)
    await broker.membership.unlock(wish)
    elsewhere = [one for one in wish.queues if not is_read_here(broker, one)]
    await forward_locks(broker, command, wish, elsewhere)
    return answer(command)


@serves(RequestCode.GET_QUEUE_LOCKS, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_locks(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Return the holder of each lock, and whether it is still connected."""
    broker.last_copies.note_locks(caller)
    group = decode_header(QueueLocksHeader, command.ext).consumer_group
    locks = _locks(broker, group)
    listed = list(itertools.islice(locks, LISTED_COUNT_MAX))
    total_count = len(listed) + sum(1 for _ in locks)
    return answer(
        command, body=java_json.encode(QueueLocksBody(total_count=total_count, locks=listed))
    )


def _release_target(broker: Broker, command: Command) -> FenceTarget:
    wanted = java_json.decode(command.body or b"{}", ReleasesBody).locks
    holders = " ".join(sorted({one.client_id for one in wanted}))

    def read() -> list[dict[str, str | int | None]]:
        return [_holder(broker, one) for one in wanted]

    return FenceTarget(f"locks of {holders}", read)


def _holder(broker: Broker, lock: ReleaseBody) -> dict[str, str | int | None]:
    held = broker.locks.find(lock.consumer_group, _queue_of(lock), broker.elapsed_ms())
    return {
        "consumerGroup": lock.consumer_group,
        "topic": lock.topic,
        "queueId": lock.queue_id,
        "clientId": None if held is None else held.client_id,
    }


@serves(
    RequestCode.RELEASE_QUEUE_LOCKS, role=RequiredRole.ANY, passed_on=False, target=_release_target
)
def on_release_locks(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """End the named holds that have not changed, and notify their groups."""
    wanted = java_json.decode(command.body or b"{}", ReleasesBody).locks
    for one in wanted:
        broker.locks.release(
            one.consumer_group,
            _queue_of(one),
            client_id=one.client_id,
            locked_at_ms=one.locked_at_ms,
        )
    for group in dict.fromkeys(one.consumer_group for one in wanted):
        # Members that were refused the lock would try again only when they rebalance, every 20 s.
        broker.notify_members(group)
    return answer(command)


@serves(RequestCode.GET_QUEUE_READERS, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_readers(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return when a group was last seen at each queue of a topic."""
    header = decode_header(QueueReadersHeader, command.ext)
    topic = broker.find_topic(header.topic)
    queues = [
        _reader(broker, header.consumer_group, topic.name, queue_id)
        for queue_id in range(topic.read_queue_count)
    ]
    reported = QueueReadersBody(
        is_gate_open=broker.gate.is_open,
        observed_for_ms=broker.elapsed_ms() - broker.readers.started_at_ms,
        queues=queues,
    )
    return answer(command, body=java_json.encode(reported))


def _wish(command: Command) -> LockBody:
    # A queue that can't be read is not locked: the answer names the locked ones.
    wish, _ = decode_items(command.body or b"{}", LockBody, "mqSet")
    for name, value in (("clientId", wish.client_id), ("consumerGroup", wish.consumer_group)):
        if not value:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"the field {name} is missing")
    return wish


def _locks(broker: Broker, consumer_group_name: str | None) -> Iterator[QueueLockBody]:
    now_ms = broker.elapsed_ms()
    by_group = itertools.groupby(
        broker.locks.all(now_ms, group=consumer_group_name), key=lambda one: one[0]
    )
    for group, locks in by_group:
        online = broker.consumers.find(group)
        seen = (
            {} if online is None else {c.client_id: c.seen_at_ms for c in online.members.values()}
        )
        for _, queue, lock in locks:
            seen_at_ms = seen.get(lock.client_id)
            yield QueueLockBody(
                consumer_group=group,
                topic=queue.topic,
                broker_name=queue.broker_name,
                queue_id=queue.queue_id,
                client_id=lock.client_id,
                locked_at_ms=lock.locked_at_ms,
                held_ms=now_ms - lock.locked_at_ms,
                idle_ms=now_ms - lock.renewed_at_ms,
                expires_in_ms=lock.expires_in_ms(now_ms),
                is_connected=seen_at_ms is not None,
                heard_ms=None if seen_at_ms is None else now_ms - seen_at_ms,
            )


def _queue_of(lock: ReleaseBody) -> MessageQueue:
    """Name the queue of a hold as its client did."""
    return MessageQueue(broker_name=lock.broker_name, queue_id=lock.queue_id, topic=lock.topic)


def _reader(broker: Broker, group: str, topic: str, queue_id: int) -> QueueReaderBody:
    now_ms = broker.elapsed_ms()
    seen = broker.readers.find(group, topic, queue_id) or QueueReader()

    def age(at_ms: int | None) -> int | None:
        return None if at_ms is None else now_ms - at_ms

    return QueueReaderBody(
        queue_id=queue_id,
        pulled_ms=age(seen.pulled_at_ms),
        committed_ms=age(seen.committed_at_ms),
        advanced_ms=age(seen.advanced_at_ms),
        address=seen.address,
    )
