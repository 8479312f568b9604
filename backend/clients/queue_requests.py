"""Ask brokers who holds and who reads queues, and what keeps a group from reading one."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.broker_changes import read_told
from backend.clients.remoting_client import RemotingClient
from backend.domain.queue_lock import HeldLock, HeldLocks
from backend.domain.queue_reading import (
    GroupMember,
    OnlineGroup,
    QueueReader,
    QueueReaders,
)
from backend.remoting import bodies, java_json
from backend.remoting.bodies.locks import (
    QueueLocksBody,
    QueueReadersBody,
    ReleaseBody,
    ReleasesBody,
)
from backend.remoting.command import Command
from backend.remoting.headers import (
    ConsumerGroupHeader,
    QueueHeader,
    encode_header,
)
from backend.remoting.headers.base import Header
from backend.remoting.headers.locks import QueueLocksHeader, QueueReadersHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

BodyT = TypeVar("BodyT")
PERMISSION: Final = "brokerPermission"
BROADCASTING: Final = "BROADCASTING"
DELAY_PROGRESS: Final = "scheduleMessageOffset_"


class _OffsetTable(bodies.Body, frozen=True, kw_only=True):
    offsets: dict[str, dict[str, int]] = msgspec.field(name="offsetTable", default_factory=dict)


class QueueRequests:
    """Speak to brokers of locks, readers and permissions."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def queue_locks(self, address: str, *, consumer_group: str | None = None) -> HeldLocks:
        """Ask an agent for the living locks of all groups or of one (7003).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, as a stock broker's is.
        """
        header = QueueLocksHeader(consumer_group=consumer_group)
        response = await self._ask(address, RequestCode.GET_QUEUE_LOCKS, header)
        told = _read(address, response, QueueLocksBody)
        locks = tuple(HeldLock(**msgspec.structs.asdict(one)) for one in told.locks)
        return HeldLocks(locks, told.total_count)

    async def release_queue_locks(
        self, address: str, locks: Sequence[HeldLock], *, fence: Mapping[str, str]
    ) -> None:
        """Have an agent end holds that are still the same, in the name of a step (7004).

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it now.
            ChangeRefused: it does not do it, nor will it.
            OperationFenced: a later attempt came first.
        """
        body = java_json.encode(ReleasesBody(locks=[_release(one) for one in locks]))
        code = RequestCode.RELEASE_QUEUE_LOCKS
        read_told(address, await self._client.request(address, code, ext=fence, body=body), fence)

    async def queue_readers(self, address: str, group: str, topic: str) -> QueueReaders:
        """Ask an agent when a group was last seen at the queues of a topic (7005).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, as a stock broker's is.
        """
        header = QueueReadersHeader(consumer_group=group, topic=topic)
        response = await self._ask(address, RequestCode.GET_QUEUE_READERS, header)
        told = _read(address, response, QueueReadersBody)
        readers = {
            one.queue_id: QueueReader(one.pulled_ms, one.committed_ms, one.advanced_ms, one.address)
            for one in told.queues
        }
        return QueueReaders(told.is_gate_open, told.observed_for_ms, readers)

    async def online_group(self, address: str, group: str) -> OnlineGroup | None:
        """Ask a broker who of a group is connected to it (203); None is nobody.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        header = ConsumerGroupHeader(consumer_group=group)
        response = await self._ask(address, RequestCode.GET_CONSUMER_CONNECTION_LIST, header)
        if response.code == ResponseCode.CONSUMER_NOT_ONLINE:
            return None
        told = _read(address, response, bodies.ConsumerConnection)
        members = {
            GroupMember(one.client_id, one.client_address, one.language, one.version)
            for one in told.connections
        }
        return OnlineGroup(
            tuple(sorted(members, key=lambda one: (one.client_id, one.address))),
            {topic: one.shown for topic, one in told.subscriptions.items()},
            is_broadcasting=told.message_model == BROADCASTING,
            consume_type=told.consume_type,
            starts_from=told.consume_from_where,
            expression_types={
                topic: one.expression_type for topic, one in told.subscriptions.items()
            },
        )

    async def groups_with_offsets(self, address: str) -> list[str]:
        """Ask a broker which consumer groups have committed an offset there (43).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_ALL_CONSUMER_OFFSET)
        table = _read(address, response, _OffsetTable).offsets
        # A key is topic@group, and neither holds the mark.
        return sorted({key.rpartition("@")[2] for key in table})

    async def runtime_info(self, address: str) -> Mapping[str, str]:
        """Ask a broker for the figures that it shows of itself, under stock's names (28).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_RUNTIME_INFO)
        return _read(address, response, bodies.KeyValueTable).table

    async def delayed_count(self, address: str) -> int:
        """Ask a broker how many messages wait for their time in its delay levels (28).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        table = await self.runtime_info(address)
        told = [value for key, value in table.items() if key.startswith(DELAY_PROGRESS)]
        try:
            pairs = [tuple(map(int, value.split(","))) for value in told]
            return sum(max(0, end - delivered) for delivered, end in pairs)
        except ValueError as error:
            raise BrokerRefused(address, f"its delay levels can't be read: {error}") from error

    async def max_offset(self, address: str, topic: str, queue_id: int) -> int:
        """Ask a broker where a queue ends (30), which it says only while it serves its group.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: it serves nobody now, or the answer can't be read.
        """
        header = QueueHeader(topic=topic, queue_id=queue_id)
        response = accepted(address, await self._ask(address, RequestCode.GET_MAX_OFFSET, header))
        try:
            return int(response.ext["offset"])
        except (KeyError, ValueError) as error:
            raise BrokerRefused(address, "its answer holds no offset") from error

    async def permission(self, address: str) -> int:
        """Ask a broker what its clients may do: 4 is to read, 2 to write, 6 both (26).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or names no permission.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_CONFIG)
        text = accepted(address, response).body.decode("utf-8", "replace")
        for line in text.splitlines():
            name, _, value = line.partition("=")
            if name.strip() == PERMISSION and value.strip().isdecimal():
                return int(value)
        raise BrokerRefused(address, f"its configuration names no {PERMISSION}")

    async def set_permission(
        self, address: str, permission: int, *, fence: Mapping[str, str]
    ) -> None:
        """Have a broker let its clients do this from now on, in the name of a step (25).

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it now.
            ChangeRefused: it does not do it, nor will it.
            OperationFenced: a later attempt came first.
        """
        code, body = RequestCode.UPDATE_BROKER_CONFIG, f"{PERMISSION}={permission}\n".encode()
        read_told(address, await self._client.request(address, code, ext=fence, body=body), fence)

    async def _ask(self, address: str, code: RequestCode, header: Header) -> Command:
        return await self._client.request(address, code, ext=encode_header(header))


def _read(address: str, response: Command, kind: type[BodyT]) -> BodyT:
    try:
        return java_json.decode(accepted(address, response).body, kind)
    except InvalidJson as error:
        raise BrokerRefused(address, f"its answer can't be read: {error}") from error


def _release(lock: HeldLock) -> ReleaseBody:
    return ReleaseBody(
        consumer_group=lock.consumer_group,
        topic=lock.topic,
        broker_name=lock.broker_name,
        queue_id=lock.queue_id,
        client_id=lock.client_id,
        locked_at_ms=lock.locked_at_ms,
    )
