"""The membership of the master of a group without a controller."""

import socket
from collections.abc import Awaitable
from typing import Final

from regent_engine import Command

from backend.remoting.bodies.controller import HaStatusBody
from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.fixed_role import FixedRole
from workers.broker.acting.leading import Leading
from workers.broker.broker import Broker
from workers.broker.commit_log.late_answers import unconfirmed
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
from workers.broker.group.own_disk import flush_failed, stored_on_disk
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.replication.passing_on import PASSED_ON_FIELD, not_taken
from workers.broker.routing.registration import RegistrationSource

_OF_MASTER: Final = frozenset({RequiredRole.MASTER_TAKES, RequiredRole.MASTER_CHANGES})


class FixedMaster(FixedRole):
    """The master; it serves once it is online."""

    decisions = None
    escapes = None

    def __init__(
        self, broker: Broker, registration_source: RegistrationSource, *, ha_socket: socket.socket
    ) -> None:
        """Refuse messages until it is online."""
        super().__init__(broker)
        self.ha_address: str | None = registration_source.ha_address
        self.leading = Leading(broker, ha_socket)
        # Every turn of the hot path calls these.
        self.appended, self.when_safe = self.leading.appended, self.leading.when_safe
        self.outcome, self.flush_failed = self.leading.outcome, self.leading.flush_failed
        self._is_leaving = False
        broker.block_writes(WriteBlock.RETURNING)

    def go_online(self) -> None:
        """Serve, and deliver what is due."""
        self.is_online = True
        self._broker.unblock_writes(WriteBlock.RETURNING)
        if self._broker.damage is None:
            self._broker.start_deliveries()
        self._broker.confirmation.follow(may_lead=True)

    def give_up(self) -> None:
        """Take no commits and locks any more: a replica acts with those that it has then (I9)."""
        self._is_leaving = True
        self._broker.offsets.hold(is_held=True)

    def describe_ha(self) -> HaStatusBody:
        """Describe the replication of the log of this broker (907)."""
        return self.leading.describe()

    def figures(self) -> dict[str, str | int]:
        """Return whether this master is online, why not, and how many members live and copy."""
        return {
            **super().figures(),
            "aliveReplicas": len(self.members.keys() | {self.own_id}),
            "inSyncReplicas": 1 + len(self.leading.in_sync_ids),
        }

    def check(self, required: RequiredRole) -> None:
        """Accept all requests except those for a broker with a controller, while it is online.

        Raises:
            Refusal: only a controller sends this request; or a replica still acts for this broker,
            or is about to.
        """
        self._check_uncontrolled(required)
        if not self.is_online and required is not RequiredRole.ANY:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.RETURNING)
        if self._is_leaving and required in _OF_MASTER:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.STOPPING)

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Answer every request here, until this master leaves.

        Raises:
            Refusal: a replica is about to act, or does already.
        """
        if self._is_leaving and PASSED_ON_FIELD in command.ext:
            raise not_taken()
        if self._is_leaving:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.STOPPING)
        return None

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Return the answer once the log up to a position may be acknowledged, or the outcome.

        Raises:
            Refusal: the disk failed, and it is unknown whether the message is stored.
        """
        if self.leading.waits_for_replicas:
            outcome = await self.outcome(position)
            if outcome is Outcome.FLUSH_FAILED:
                raise flush_failed()
            return reply if outcome is Outcome.CONFIRMED else unconfirmed(reply, outcome)
        return await stored_on_disk(self._broker, position, reply, late_reply)

    def take_least(self, _sent: LeastIdHeader) -> None:
        """Do nothing: this broker has the least id."""

    async def take_master(self, _sent: HaInfoHeader) -> None:
        """Do nothing: this broker is the master."""

    def tick(self, now_s: float) -> None:
        """Do the periodic work."""
        if self.members:
            self.leading.alive_count = len(self.members.keys() | {self.own_id})
        self.leading.tick(now_s)
