"""Read the positions of consumer groups in physical queues, and commit those that are carried."""

import contextlib
from collections.abc import Iterable
from typing import Protocol, TypeVar

from backend.brokers.asking import Inquiry
from backend.brokers.change import Fence
from backend.brokers.requests.offsets import UpdateConsumerOffset
from backend.brokers.requests.physical_positions import GetPhysicalPositions
from backend.domain.logical_queue.expiry import CarriedPosition
from backend.domain.logical_queue.mapping import Place
from backend.domain.operation_errors import ChangeRefused

AnswerT = TypeVar("AnswerT")


class BrokerGroups(Protocol):
    """Ask the masters of broker groups by the names of the groups."""

    async def ask(self, broker_group_name: str, inquiry: Inquiry[AnswerT], /) -> AnswerT:
        """Ask the present master of a broker group."""
        ...


async def read_positions(
    groups: BrokerGroups, broker_group_names: Iterable[str], topic_name: str
) -> dict[str, dict[Place, int]]:
    """Return the physical offsets of each consumer group, by physical queue.

    Raises:
        NoAnswer: a broker group does not answer.
    """
    held: dict[str, dict[Place, int]] = {}
    for name in sorted(set(broker_group_names)):
        found = await groups.ask(name, GetPhysicalPositions(topic_name))
        for consumer_group, offsets in found.items():
            places = {(name, queue_id): offset for queue_id, offset in offsets.items()}
            held.setdefault(consumer_group, {}).update(places)
    return held


async def commit_carried(
    groups: BrokerGroups, topic_name: str, carried: Iterable[CarriedPosition], *, fence: Fence
) -> None:
    """Commit positions at the segments where consumer groups continue.

    Where a consumer group does not exist, its members can't read the queue either.

    Raises:
        NoAnswer: a broker group does not answer.
    """
    for one in carried:
        name, queue_id = one.place
        own = {}
        if fence:
            step = f"{fence['regentStep']}/{name}/{queue_id}/{one.consumer_group_name}"
            own = {**fence, "regentStep": step}
        commit = UpdateConsumerOffset(
            consumer_group=one.consumer_group_name,
            topic=topic_name,
            queue_id=queue_id,
            offset=one.physical_offset,
            is_logical=False,
            fence=own,
        )
        with contextlib.suppress(ChangeRefused):
            await groups.ask(name, commit)
