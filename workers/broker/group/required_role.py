"""Say which role a broker of a group needs to serve a request (control-plane.md 3.6, 3.7)."""

from enum import Enum, auto

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal


class RequiredRole(Enum):
    """The role that a request needs; a broker without a controller has all of them but `MEMBER`."""

    ANY = auto()
    """Served in every role, and before the broker has one."""

    READABLE = auto()
    """Served once readers see everything that the group acknowledged before."""

    MEMBER = auto()
    """Served in every role, by a broker that has a controller."""

    MASTER_TAKES = auto()
    """The master alone serves it, because it holds for the whole group: the offsets are kept by all
    (D14), and no queue is given to two clients."""

    MASTER_CHANGES = auto()
    """The master alone serves it, as an order of an operator."""


def check_role(required: RequiredRole, *, is_readable: bool, is_master: bool) -> None:
    """Pass a request that a broker may serve in its role, and readers if it is readable.

    Raises:
        Refusal: it may not.
    """
    if required in {RequiredRole.ANY, RequiredRole.MEMBER}:
        return
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
            "only the master of the group takes committed offsets and gives locks:"
            " ask for the route again",
        )
