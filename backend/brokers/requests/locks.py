"""Ask agents for lock holders and readers of ordered queues, and have them release locks."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.domain.queue_lock import HeldLock, HeldLocks
from backend.domain.queue_reading import QueueReader, QueueReaders
from backend.remoting import java_json
from backend.remoting.bodies.locks import (
    QueueLockBody,
    QueueLocksBody,
    QueueReadersBody,
    ReleaseBody,
    ReleasesBody,
)
from backend.remoting.command import Command
from backend.remoting.headers.locks import QueueLocksHeader, QueueReadersHeader
from backend.remoting.request_code import RequestCode


@dataclass(frozen=True, slots=True)
class GetQueueLocks(Request[HeldLocks]):
    """Ask an agent for the current locks of one consumer group, or of all."""

    code = RequestCode.GET_QUEUE_LOCKS
    header_type = QueueLocksHeader

    consumer_group: str | None = None

    def read(self, response: Command) -> HeldLocks:
        body = java_json.decode(response.body, QueueLocksBody)
        return HeldLocks(tuple(_held(one) for one in body.locks), body.total_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseQueueLocks(Change):
    """Have an agent end holds that have not changed since."""

    code = RequestCode.RELEASE_QUEUE_LOCKS

    locks: Sequence[HeldLock]

    @property
    def body(self) -> bytes:
        return java_json.encode(ReleasesBody(locks=[_release(one) for one in self.locks]))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetQueueReaders(Request[QueueReaders]):
    """Ask an agent when a consumer group last used each queue of a topic."""

    code = RequestCode.GET_QUEUE_READERS
    header_type = QueueReadersHeader

    consumer_group: str
    topic: str

    def read(self, response: Command) -> QueueReaders:
        body = java_json.decode(response.body, QueueReadersBody)
        readers = {
            one.queue_id: QueueReader(one.pulled_ms, one.committed_ms, one.advanced_ms, one.address)
            for one in body.queues
        }
        return QueueReaders(body.is_gate_open, body.observed_for_ms, readers)


def _held(body: QueueLockBody) -> HeldLock:
    fields = msgspec.structs.asdict(body)
    return HeldLock(consumer_group_name=fields.pop("consumer_group"), **fields)


def _release(lock: HeldLock) -> ReleaseBody:
    return ReleaseBody(
        consumer_group=lock.consumer_group_name,
        topic=lock.topic,
        broker_name=lock.broker_name,
        queue_id=lock.queue_id,
        client_id=lock.client_id,
        locked_at_ms=lock.locked_at_ms,
    )
