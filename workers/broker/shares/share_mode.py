"""Decide whether the share queues of a topic may be shared by members (queue-ownership.md 4.2)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backend.remoting.bodies import TopicConfig
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import PRIMARY_MODE, SHARE_MODE, SHARED_MODE
from workers.broker.errors import Refusal

if TYPE_CHECKING:
    from workers.broker.broker import Broker


def mode_of(topic: TopicConfig | None) -> str:
    """Return the mode of a topic; a topic without one has its share queues at the master."""
    return PRIMARY_MODE if topic is None else topic.attributes.get(SHARE_MODE, PRIMARY_MODE)


def check_share_mode(
    broker: "Broker",
    topic_name: str,
    former: TopicConfig | None,
    attributes: Mapping[str, str],
    *,
    is_static: bool = False,
) -> None:
    """Check that the members of this broker group can share the queues of a topic.

    A topic that keeps its mode is not judged again.

    Raises:
        Refusal: the topic is static, no controller leads the group, or a member is of RocketMQ.
    """
    if attributes.get(SHARE_MODE) != SHARED_MODE:
        return
    if not is_static and mode_of(former) == SHARED_MODE:
        return
    reason = None
    stock = broker.shares.stock_members.found
    if is_static:
        reason = (
            "the share queues of a static topic belong to the masters that lead its queues: leave"
            " out share.mode, or use an ordinary topic"
        )
    elif not broker.settings.controller_mode:
        reason = (
            "without a controller no member but the master has a lease: set enableControllerMode"
            " and controllerAddr on each broker of the group first"
        )
    elif stock:
        broker_id, address = min(stock.items())
        reason = (
            f"broker {broker_id} of the group, {address}, is of RocketMQ, which does not read the"
            " state of share queues: replace that broker by one of Regent first"
        )
    if reason is not None:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"share.mode of {topic_name} can't be SHARED: {reason}"
        )
