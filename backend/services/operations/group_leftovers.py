"""Find what a consumer group leaves behind in topics of its own: retries and dead letters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.topic_layout import TopicLayout
from backend.remoting.names import dead_letter_topic, retry_topic
from backend.services.operations import topic_layouts, topic_removal
from backend.services.operations.kind import OperationContext, StepWork
from backend.services.operations.masters import Master, Silence


@dataclass(frozen=True, slots=True)
class Leftover:
    """Hold which masters have one of the topics, and how many messages; None if not all told.

    The word is the one that names its steps.
    """

    word: str
    topic_name: str
    holders: tuple[Master, ...]
    message_count: int | None
    silences: Mapping[Master, Silence]

    @property
    def text(self) -> str:
        """Say how much is in it."""
        count = "an unknown number of" if self.message_count is None else str(self.message_count)
        return f"{count} message{'' if count == '1' else 's'} in {self.topic_name}"


async def find_leftovers(
    group: str, masters: Sequence[Master], context: OperationContext
) -> list[Leftover]:
    """Ask masters for the topics of a consumer group, and for what is in them."""
    names = {"retries": retry_topic(group), "dead-letters": dead_letter_topic(group)}
    return [await _find(word, name, masters, context) for word, name in names.items()]


def planned_steps(found: Sequence[Leftover]) -> list[PlannedStep]:
    """Name a step for each master and topic, and one for the routes of each topic."""
    return [
        step
        for one in found
        if one.holders
        for step in (
            *(
                PlannedStep(
                    f"{one.word}-{master.group_name}",
                    f"Delete {one.topic_name} on {master.group_name}",
                )
                for master in one.holders
            ),
            PlannedStep(f"{one.word}-routes", f"Take {one.topic_name} out of the routes"),
        )
    ]


def facts_of(found: Sequence[Leftover]) -> list[dict[str, Any]]:
    """Keep in a plan what its steps need, in their order."""
    return [
        {
            "topic_name": one.topic_name,
            "messages": one.message_count,
            "brokers": [
                {"group_name": master.group_name, "address": master.address}
                for master in one.holders
            ],
        }
        for one in found
        if one.holders
    ]


def works(
    cluster_name: str, told: Sequence[Mapping[str, Any]], context: OperationContext
) -> list[StepWork]:
    """Carry out the steps that the facts of a plan tell of."""
    return [
        work
        for one in told
        for work in (
            *(
                topic_removal.delete_work(master, one["topic_name"], context)
                for master in _masters(one)
            ),
            topic_removal.routes_work(
                cluster_name,
                one["topic_name"],
                [master.group_name for master in _masters(one)],
                context,
            ),
        )
    ]


async def read_back(
    cluster_name: str, told: Sequence[Mapping[str, Any]], context: OperationContext
) -> list[ReadBack]:
    """Read back that the topics are gone."""
    return [
        result
        for one in told
        for result in await topic_removal.read_back(
            cluster_name,
            one["topic_name"],
            _masters(one),
            context,
            name=one["topic_name"],
            routes=f"the routes of {one['topic_name']}",
        )
    ]


def _masters(told: Mapping[str, Any]) -> list[Master]:
    return [Master(one["group_name"], one["address"]) for one in told["brokers"]]


async def _find(
    word: str, topic: str, masters: Sequence[Master], context: OperationContext
) -> Leftover:
    layouts = await topic_layouts.read_layouts(masters, topic, context)
    holders = sorted(one for one, told in layouts.items() if isinstance(told, TopicLayout))
    silences = {one: told for one, told in layouts.items() if isinstance(told, Silence)}
    ends = await topic_layouts.read_ends(holders, topic, context)
    counts = [
        None if isinstance(told, Silence) else sum(end.count for end in told.values())
        for told in ends.values()
    ]
    known = [count for count in counts if count is not None]
    is_known = len(known) == len(counts) and not silences
    return Leftover(word, topic, tuple(holders), sum(known) if is_known else None, silences)
