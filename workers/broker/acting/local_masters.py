"""Give a message that is due at an acting master to a master of another group in this process.

This way needs no name server and no connection (S127). The other broker serves the message as one
that came over the network: it stores it once, by its key, and waits for its disk and its replicas.
"""

from collections.abc import Iterable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING

from regent_engine import Command, Decoder, PullGrant

from backend.remoting.command import request
from workers.broker.container.own_container import LiveMaster
from workers.broker.tables.topics import WRITABLE, permitted

if TYPE_CHECKING:
    from workers.broker.broker import Broker


class LocalMasters:
    """The masters of other groups in the process of a broker; none unless it is in a container."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._caller = LocalCaller(broker.store_host)

    def targets(self, topic_name: str) -> list[tuple[str, int]]:
        """Return the queues of a topic that take messages in this process, each by its address."""
        return sorted(
            (_address_of(one.broker), queue_id)
            for one in self._others()
            if (topic := one.broker.topics.find(topic_name)) is not None
            and permitted(topic, one.broker.settings.permissions) & WRITABLE
            for queue_id in range(topic.write_queue_count)
        )

    async def call(
        self, address: str, code: int, *, ext: Mapping[str, str], body: bytes
    ) -> Command | None:
        """Have a master of this process serve a request; None if none has the address."""
        found = next((one for one in self._others() if _address_of(one.broker) == address), None)
        if found is None:
            return None
        (command,) = Decoder().receive(request(code, opaque=0, ext=ext, body=body))
        outcome = found.dispatch(self._caller, command)
        reply = await outcome if isawaitable(outcome) else outcome
        assert reply is not None, "only pulls are answered later"
        (answer,) = Decoder().receive(reply)
        return answer

    def _others(self) -> Iterable[LiveMaster]:
        own, container = self._broker.settings, self._broker.container
        for one in () if container is None else container.list_masters():
            settings = one.broker.settings
            is_other = settings.broker_name != own.broker_name
            if is_other and settings.cluster_name == own.cluster_name:
                yield one


class LocalCaller:
    """The broker that gives a message, in the place of a connection; it never pulls."""

    is_fast = is_congested = is_gone = False
    connection_id = 0

    def __init__(self, peer: tuple[str, int]) -> None:
        """Take the address of that broker, which is the origin of the message."""
        self.peer = peer
        self.address = f"{peer[0]}:{peer[1]}"

    def send(self, frame: bytes, body: bytes = b"") -> None:
        """Send nothing: the answer is returned."""

    def park(
        self,
        command: Command,
        grant: PullGrant,
        *,
        queue_id: int,
        offset: int,
        count_max: int,
        deadline_ms: int,
        wake_count: int,
        global_id: int | None = None,
        adds_delta: bool = True,
    ) -> bool:
        """Refuse: there is no space for pulls."""
        del command, grant, queue_id, offset, count_max, deadline_ms, wake_count
        del global_id, adds_delta
        return False

    def pop(self, command: Command, grant: PullGrant, *, may_wait: bool) -> bool:
        """Refuse, as for pulls."""
        del command, grant, may_wait
        return False

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def abort(self) -> None:
        """Do nothing: there is no connection."""


def _address_of(broker: "Broker") -> str:
    host, port = broker.store_host
    return f"{host}:{port}"
