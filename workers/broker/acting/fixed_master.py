"""The membership of the master of a group without a controller."""

import socket
from collections.abc import Awaitable

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
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.routing.registration import RegistrationSource


class FixedMaster(FixedRole):
    """The master; it serves once it is online."""

    decisions = None

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
        broker.block_writes(WriteBlock.RETURNING)

    def go_online(self) -> None:
        """Serve, and deliver what is due."""
        self.is_online = True
        self._broker.unblock_writes(WriteBlock.RETURNING)
        if self._broker.damage is None:
            self._broker.start_deliveries()
        self._broker.confirmation.follow(may_lead=True)

    def describe_ha(self) -> HaStatusBody:
        """Describe the replication of the log of this broker (907)."""
        return self.leading.describe()

    def figures(self) -> dict[str, str | int]:
        """Return whether this master is online, why not, and how many members live and copy."""
        return {
            "online": str(self.is_online).lower(),
            "notOnlineReason": self.not_online_reason,
            "aliveReplicas": len(self.members.keys() | {self.own_id}),
            "inSyncReplicas": 1 + len(self.leading.in_sync_ids),
        }

    def check(self, required: RequiredRole) -> None:
        """Accept all requests except those for a broker with a controller, once it is online.

        Raises:
            Refusal: only a controller sends this request; or a replica still acts for this broker.
        """
        self._check_uncontrolled(required)
        if not self.is_online and required is not RequiredRole.ANY:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.RETURNING)

    def pass_on(self, _command: Command) -> Awaitable[bytes | None] | None:
        """Answer every request here."""
        return None

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Return the answer once the log up to a position may be acknowledged, or the outcome.

        Raises:
            Refusal: the disk failed, and it is unknown whether the message is stored.
        """
        broker = self._broker
        if self.leading.waits_for_replicas:
            outcome = await self.outcome(position)
            if outcome is Outcome.FLUSH_FAILED:
                raise _flush_failed()
            return reply if outcome is Outcome.CONFIRMED else unconfirmed(reply, outcome)
        if broker.settings.flush_mode == "async":
            return reply
        timeout_s = broker.settings.flush_timeout_ms / 1000
        is_durable = await broker.flusher.durable(position, timeout_s=timeout_s)
        if is_durable is None:
            return late_reply
        if not is_durable:
            raise _flush_failed()
        return reply

    def take_least(self, _sent: LeastIdHeader) -> None:
        """Do nothing: this broker has the least id."""

    async def take_master(self, _sent: HaInfoHeader) -> None:
        """Do nothing: this broker is the master."""

    def tick(self, now_s: float) -> None:
        """Do the periodic work."""
        if self.members:
            self.leading.alive_count = len(self.members.keys() | {self.own_id})
        self.leading.tick(now_s)


def _flush_failed() -> Refusal:
    return Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "a flush to the disk failed")
