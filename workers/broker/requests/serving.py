"""Declare each request beside its processor: all facts of a request code for this broker.

`@serves` takes every fact as a required argument, so that none is missing. The registry is complete
after `processors.load`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.request_code import PROTOCOL_VERSION, RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget

Outcome = bytes | None | Awaitable[bytes]
Processor = Callable[[Broker, Caller, Command], Outcome]
FindTarget = Callable[[Broker, Command], FenceTarget]
MeansThisBroker = Callable[[Command], bool]
P = TypeVar("P", bound=Processor)


@dataclass(frozen=True, slots=True)
class Served:
    """One kind of request, and how it is served."""

    processor: Processor
    role: RequiredRole
    is_passed_on: bool
    """Whether a replica passes it on to the master, the only broker that may carry it out.

    Its answer holds no fact of one broker. Heartbeats are not passed on, because they bind a client
    to its connection. A reset of offsets (222) is not passed on, because it reaches the consumers
    of the broker that receives it.
    """
    find_target: FindTarget | None
    """How to read the value that it changes; without it, only the effect is fenced."""
    on_fast_port: bool
    """Whether the port two below the main port serves it (remoting.md 1.6)."""
    means_this_broker: MeansThisBroker | None = None
    """Whether a request is for this broker in any role, and is not passed on."""
    since: int = 0
    """The protocol version that added the request; 0 for a request of RocketMQ."""

    def is_for_this_broker(self, command: Command) -> bool:
        """Return whether a request is for this broker, whatever its role is."""
        return self.means_this_broker is not None and self.means_this_broker(command)


REQUESTS: Final[dict[int, Served]] = {}


def serves(
    *codes: RequestCode,
    role: RequiredRole,
    passed_on: bool,
    target: FindTarget | None,
    on_fast_port: bool = True,
    means_this_broker: MeansThisBroker | None = None,
) -> Callable[[P], P]:
    """Register a processor for requests of some codes."""

    def declare(processor: P) -> P:
        for code in codes:
            if code in REQUESTS:
                raise ValueError(f"request {code.name} has two processors")
            REQUESTS[code] = Served(
                processor, role, passed_on, target, on_fast_port, means_this_broker, code.since
            )
        return processor

    return declare


def find_served(code: int, version_max: int = PROTOCOL_VERSION) -> Served:
    """Return how requests of a code are served, by a broker that speaks up to a protocol version.

    A code that is unknown, or of a later version, has a processor that refuses.
    """
    served = REQUESTS.get(code, _UNKNOWN)
    return served if served.since <= version_max else _UNKNOWN


def refuse_unknown(_broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Answer that this broker, or this port, does not serve the request."""
    return answer(
        command,
        code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        remark=f"request type {command.code} not supported",
    )


_UNKNOWN: Final = Served(
    refuse_unknown, RequiredRole.ANY, is_passed_on=False, find_target=None, on_fast_port=True
)
