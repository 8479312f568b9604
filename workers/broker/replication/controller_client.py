"""Ask a controller about ids, masters, SyncStateSets and leases (control-plane.md 1.3-1.16).

All requests use one connection: the controller identifies the group by it, treats its close as the
loss of this broker, and sends notices of new masters over it (1008).
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.address import Address, split_address
from backend.remoting.bodies import SyncStateSetBody
from backend.remoting.bodies.controller import ElectedBody
from backend.remoting.bodies.share_leases import LeaseDecisionsBody, LeaseHeartbeatBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers import (
    AlterSyncStateSetHeader,
    ApplyBrokerIdHeader,
    BrokerHeartbeatHeader,
    ControllerMetadataAnswer,
    ElectMasterHeader,
    Header,
    InvalidHeader,
    LeaseAnswer,
    MasterHeader,
    NextBrokerIdAnswer,
    NextBrokerIdHeader,
    RegisterReplicaHeader,
    ReplicaInfoHeader,
    ShareLeaseHeader,
    decode_header,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import (
    FIRST_PROTOCOL_VERSION,
    PROTOCOL_VERSION,
    RequestCode,
)
from backend.remoting.response_code import ResponseCode
from backend.requester import ANSWER_TIMEOUT_S, Requester, connect
from workers.broker.replication.acknowledgement import LeasePolicy
from workers.broker.replication.identity import Identity, IdTaken
from workers.broker.replication.sync_state import SyncStateSet

_UNABLE: Final = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.CONTROLLER_NOT_LEADER,
        ResponseCode.CONTROLLER_JRAFT_INTERNAL_ERROR,
    }
)

SILENCE_COUNT_MAX: Final = 2
LEASE_SHARE: Final = 1 / 3
"""The part of a lease that a heartbeat waits if there is another controller.

So the next controller can answer before the lease ends, even if the first one is paused.
"""

_GONE: Final = "this broker no longer asks a controller"

HeaderT = TypeVar("HeaderT", bound=Header)
BodyT = TypeVar("BodyT")

log = structlog.get_logger()


class ControllerRefused(Exception):
    """The controller refused the request."""

    def __init__(self, code: int, remark: str | None) -> None:
        super().__init__(f"the controller refused with code {code}: {remark or 'no reason given'}")
        self.code = code


@dataclass(frozen=True, slots=True)
class ReplicaGroupState:
    """The answer of a controller about a group: its master, its epoch and the set."""

    master_id: int | None
    master_address: str | None
    epoch: int
    sync_state_set: SyncStateSet | None
    lease_ms: int = 0
    """The lease that a new master gets with its election, from `lease_from_s` on."""

    lease_from_s: float = 0.0
    lease_policy: LeasePolicy = LeasePolicy.QUORUM
    loss_epoch: int = 0
    """The newest master epoch that began with an accepted loss; 0 for none."""

    protocol_version: int = FIRST_PROTOCOL_VERSION
    """The version of the records of share queues that each member reads."""


@dataclass(frozen=True, slots=True)
class HeartbeatFacts:
    """The facts that a broker reports with a heartbeat."""

    epoch: int
    max_position: int
    confirmed_position: int
    is_verified: bool
    is_cordoned: bool
    is_learner: bool
    life: int
    """The number of this process: a log only grows while its process runs."""

    confirmed_epoch: int
    """The epoch of the last byte before the confirmed position."""

    refused_cut: int | None = None
    """The position where this log is not truncated, so it can't follow the master (D27)."""


@dataclass(frozen=True, slots=True)
class RegistrationFacts:
    """The facts that a broker reports when it registers, in case its group was lost (D6)."""

    epoch: int
    max_position: int
    master_id: int
    """The master that the broker knows; 0 means none."""

    is_verified: bool


class ControllerClient:
    """The connection to a controller that answers."""

    def __init__(
        self,
        addresses: tuple[Address, ...],
        *,
        own_address: str,
        timeout_ms: int,
        priority: int,
        on_notice: Callable[[ReplicaGroupState], None],
        protocol_version: int = PROTOCOL_VERSION,
    ) -> None:
        self._addresses = addresses
        self._own_address = own_address
        self._timeout_ms, self._priority = timeout_ms, priority
        self._protocol_version = protocol_version
        self._on_notice = on_notice
        # If there is another controller, one missing answer of that length is enough.
        self._has_choice = len(addresses) > 1
        self._beat_timeout_s = ANSWER_TIMEOUT_S
        if self._has_choice:
            self._beat_timeout_s = min(ANSWER_TIMEOUT_S, timeout_ms * LEASE_SHARE / 1000)
        self._turn = self._silence_count = 0
        self._lock = asyncio.Lock()
        self._requester: Requester | None = None
        self._is_closed = False

    async def next_broker_id(self, cluster_name: str, broker_name: str) -> int:
        """Return an unused id (1012).

        Raises:
            OSError: no answer.
        """
        header = NextBrokerIdHeader(cluster_name=cluster_name, broker_name=broker_name)
        answer = await self._ask(RequestCode.CONTROLLER_GET_NEXT_BROKER_ID, header)
        broker_id = _read(NextBrokerIdAnswer, answer).next_broker_id
        if broker_id is None:
            raise ConnectionError("the controller offered no id")
        return broker_id

    async def apply_broker_id(self, identity: Identity, register_code: str) -> None:
        """Apply for an id (1013).

        Raises:
            IdTaken: the id belongs to another code. OSError: no answer.
        """
        header = ApplyBrokerIdHeader(
            cluster_name=identity.cluster_name,
            broker_name=identity.broker_name,
            applied_broker_id=identity.broker_id,
            register_check_code=register_code,
            protocol_version=self._protocol_version,
        )
        try:
            await self._ask(RequestCode.CONTROLLER_APPLY_BROKER_ID, header)
        except ControllerRefused as error:
            if error.code == ResponseCode.CONTROLLER_BROKER_ID_INVALID:
                raise IdTaken from error
            raise ConnectionError(str(error)) from error

    async def register(self, identity: Identity, facts: RegistrationFacts) -> ReplicaGroupState:
        """Report the address of this broker, and learn the living master (1003).

        Raises:
            ControllerRefused: no broker applied for the id, or another broker did. OSError: no
            answer.
        """
        header = RegisterReplicaHeader(
            cluster_name=identity.cluster_name,
            broker_name=identity.broker_name,
            broker_id=identity.broker_id,
            broker_address=self._own_address,
            register_check_code=identity.register_code,
            epoch=facts.epoch,
            max_offset=facts.max_position,
            known_master_id=facts.master_id,
            is_verified=facts.is_verified,
            protocol_version=self._protocol_version,
        )
        return _state(await self._ask(RequestCode.CONTROLLER_REGISTER_BROKER, header))

    async def elect(self, identity: Identity) -> ReplicaGroupState:
        """Ask for an election; the present master may stay (1002).

        Raises:
            ControllerRefused: no replica may become master. OSError: no answer.
        """
        header = ElectMasterHeader(
            cluster_name=identity.cluster_name,
            broker_name=identity.broker_name,
            broker_id=identity.broker_id,
        )
        answer = await self._ask(
            RequestCode.CONTROLLER_ELECT_MASTER,
            header,
            also=ResponseCode.CONTROLLER_MASTER_STILL_EXIST,
        )
        reported = _read(MasterHeader, answer)
        members = _decode(ElectedBody, answer.body).members
        return ReplicaGroupState(
            reported.master_broker_id,
            reported.master_address,
            reported.master_epoch or 0,
            SyncStateSet(frozenset(members), reported.sync_state_set_epoch or 0),
            lease_policy=_policy_of(reported),
            loss_epoch=reported.loss_epoch or 0,
            protocol_version=reported.protocol_version or FIRST_PROTOCOL_VERSION,
        )

    async def replica_info(self, identity: Identity) -> ReplicaGroupState:
        """Learn the recorded master, alive or not, and the set (1004).

        Raises:
            ControllerRefused: the group is unknown. OSError: no answer.
        """
        header = ReplicaInfoHeader(broker_name=identity.broker_name)
        return _state(await self._ask(RequestCode.CONTROLLER_GET_REPLICA_INFO, header))

    async def alter(
        self,
        identity: Identity,
        *,
        epoch: int,
        members: Collection[int],
        set_epoch: int,
        is_fence: bool,
    ) -> SyncStateSet:
        """Ask for another set, and return the new set (1001).

        A fence names the present members, and makes earlier requests invalid.

        Raises:
            ControllerRefused: the set does not change. OSError: no answer; it is unknown whether
            the set changed.
        """
        header = AlterSyncStateSetHeader(
            broker_name=identity.broker_name,
            master_broker_id=identity.broker_id,
            master_epoch=epoch,
            is_fence=is_fence or None,
        )
        body = SyncStateSetBody(members=sorted(members), epoch=set_epoch)
        answer = await self._ask(
            RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, header, java_json.encode(body)
        )
        return _set_of(answer.body)

    async def heartbeat(self, identity: Identity, heartbeat_facts: HeartbeatFacts) -> int:
        """Send a heartbeat and ask for a lease; return its rest in milliseconds.

        Raises:
            OSError: no answer.
        """
        return await self._beat(identity, heartbeat_facts, self._timeout_ms)

    async def say_goodbye(self, identity: Identity, heartbeat_facts: HeartbeatFacts) -> None:
        """Give back the lease, so that another master is elected now (R10c).

        Raises:
            OSError: no answer.
        """
        await self._beat(identity, heartbeat_facts, 0)

    async def share_leases(
        self, identity: Identity, life: int, heartbeat: LeaseHeartbeatBody
    ) -> LeaseDecisionsBody:
        """Report the leases of share queues, and return what the arbiter decided (4102).

        Raises:
            ControllerRefused: the heartbeat is refused. OSError: no answer.
        """
        header = ShareLeaseHeader(
            cluster_name=identity.cluster_name,
            broker_name=identity.broker_name,
            broker_id=identity.broker_id,
            life=life,
        )
        answer = await self._ask(
            RequestCode.SHARE_LEASE,
            header,
            java_json.encode(heartbeat),
            timeout_s=self._beat_timeout_s,
        )
        return _decode(LeaseDecisionsBody, answer.body)

    async def _beat(
        self, identity: Identity, heartbeat_facts: HeartbeatFacts, timeout_ms: int
    ) -> int:
        header = BrokerHeartbeatHeader(
            cluster_name=identity.cluster_name,
            broker_address=self._own_address,
            broker_name=identity.broker_name,
            broker_id=identity.broker_id,
            epoch=heartbeat_facts.epoch,
            max_offset=heartbeat_facts.max_position,
            confirm_offset=heartbeat_facts.confirmed_position,
            heartbeat_timeout_ms=timeout_ms,
            election_priority=self._priority,
            is_verified=heartbeat_facts.is_verified,
            is_cordoned=heartbeat_facts.is_cordoned or None,
            is_learner=heartbeat_facts.is_learner or None,
            process_life=heartbeat_facts.life,
            confirm_epoch=heartbeat_facts.confirmed_epoch,
            refused_cut=heartbeat_facts.refused_cut,
        )
        answer = await self._ask(
            RequestCode.BROKER_HEARTBEAT, header, timeout_s=self._beat_timeout_s
        )
        return _read(LeaseAnswer, answer).lease_ms

    def close(self) -> None:
        """Close the connection and open no other: the remaining callers are about to end."""
        self._is_closed = True
        if self._requester is not None:
            self._requester.close()

    async def _ask(
        self,
        code: int,
        header: Header,
        body: bytes = b"",
        *,
        also: int = ResponseCode.SUCCESS,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> Command:
        """Ask the controller that answered last, or the next one."""
        requester = await self._connected()
        try:
            async with asyncio.timeout(timeout_s):
                answer = await requester.call(code, ext=encode_header(header), body=body)
        except (TimeoutError, RemotingError) as error:
            # Without another controller, one slow answer is no reason to reconnect.
            self._silence_count += 1
            if self._has_choice or self._silence_count >= SILENCE_COUNT_MAX:
                requester.close()
                self._turn += 1
            raise ConnectionError(str(error) or "the controller does not answer") from error
        self._silence_count = 0
        if answer.code in {ResponseCode.SUCCESS, also}:
            return answer
        if answer.code in _UNABLE:
            if answer.code == ResponseCode.CONTROLLER_NOT_LEADER:
                requester.close()
            raise ConnectionError(f"the controller cannot answer now: {answer.remark}")
        raise ControllerRefused(answer.code, answer.remark)

    async def _connected(self) -> Requester:
        async with self._lock:
            if self._is_closed:
                raise ConnectionError(_GONE)
            if self._requester is not None and self._requester.is_open:
                return self._requester
            address = self._addresses[self._turn % len(self._addresses)]
            self._turn += 1
            try:
                self._requester = await self._find_leader(address)
            except (TimeoutError, RemotingError) as error:
                raise ConnectionError(str(error) or "the controller does not answer") from error
            if self._is_closed:
                self._requester.close()
                raise ConnectionError(_GONE)
            # The next attempt begins with the controller that answers.
            self._turn -= 1
            self._silence_count = 0
            return self._requester

    async def _find_leader(self, address: Address) -> Requester:
        requester = await self._open(address)
        try:
            async with asyncio.timeout(self._beat_timeout_s):
                answer = await requester.call(RequestCode.CONTROLLER_GET_METADATA_INFO, ext={})
            header = _read(ControllerMetadataAnswer, answer)
        except BaseException:
            requester.close()
            raise
        if header.is_leader:
            return requester
        requester.close()
        if not header.controller_leader_address:
            raise ConnectionError("the controllers have no leader now")
        return await self._open(split_address(header.controller_leader_address))

    async def _open(self, address: Address) -> Requester:
        # The heartbeat notices a lost connection, and opens another one.
        return await connect(address, peer_name="controller", on_request=self._on_request)

    def _on_request(self, command: Command) -> None:
        if command.code != RequestCode.NOTIFY_BROKER_ROLE_CHANGED:
            return
        try:
            self._on_notice(_state(command))
        except ConnectionError as error:
            log.warning("role_notice_unreadable", reason=str(error))


def _state(answer: Command) -> ReplicaGroupState:
    header = _read(MasterHeader, answer)
    return ReplicaGroupState(
        header.master_broker_id,
        header.master_address,
        header.master_epoch or 0,
        _set_of(answer.body) if answer.body else None,
        header.lease_ms or 0,
        lease_policy=_policy_of(header),
        loss_epoch=header.loss_epoch or 0,
        protocol_version=header.protocol_version or FIRST_PROTOCOL_VERSION,
    )


def _policy_of(header: MasterHeader) -> LeasePolicy:
    is_strict = header.lease_policy == LeasePolicy.STRICT
    return LeasePolicy.STRICT if is_strict else LeasePolicy.QUORUM


def _set_of(body: bytes) -> SyncStateSet:
    answer = _decode(SyncStateSetBody, body)
    return SyncStateSet(frozenset(answer.members), answer.epoch)


def _read(kind: type[HeaderT], answer: Command) -> HeaderT:
    try:
        return decode_header(kind, answer.ext)
    except InvalidHeader as error:
        raise ConnectionError(f"the controller's answer cannot be read: {error}") from error


def _decode(kind: type[BodyT], body: bytes) -> BodyT:
    try:
        return java_json.decode(body, kind)
    except InvalidJson as error:
        raise ConnectionError(f"the controller's answer cannot be read: {error}") from error
