"""Define the role that a broker needs to serve a request (control-plane.md 3.6, 3.7)."""

from enum import Enum, auto

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal


class RequiredRole(Enum):
    """The role that a request needs; a broker without a controller has all except `MEMBER`.

    So a replica that acts for no master refuses POP, and names the next step: to ask for the route
    again, which has the new master (Q86, Q87). A member that is being brought up to date does the
    same (Q58).
    """

    ANY = auto()
    """Served in every role, and before the broker has one."""

    READABLE = auto()
    """Served once readers see all data that the group has acknowledged."""

    MEMBER = auto()
    """Served in every role by a broker with a controller."""

    MASTER_TAKES = auto()
    """Served only by the master: all brokers store offsets (D14), and a lock has one holder."""

    MASTER_CHANGES = auto()
    """Served only by the master, as an order of an operator."""


def check_role(
    required: RequiredRole, *, is_readable: bool, is_master: bool, is_catching_up: bool = False
) -> None:
    """Check that a broker may serve a request in its role, and that readers see its log.

    Raises:
        Refusal: the role does not allow the request.
    """
    if required in {RequiredRole.ANY, RequiredRole.MEMBER}:
        return
    if is_catching_up:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "this broker is being brought up to date: ask for the route again",
        )
    if not is_readable:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "this master does not serve messages of the former master yet: try again"
            if is_master
            else "no master of the group is known yet",
        )
    if required is RequiredRole.MASTER_CHANGES and not is_master:
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            "only the master changes topics, groups and offsets",
        )
    if required is RequiredRole.MASTER_TAKES and not is_master:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "only the master of the group takes committed offsets, gives locks, and serves POP of"
            " topics in PRIMARY mode: ask for the route again",
        )
