"""Find what a consumer group leaves behind in topics of its own: retries and dead letters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.topic_layout import TopicLayout
from backend.remoting.names import dead_letter_topic, retry_topic
from backend.services.operations import topic_layouts
from backend.services.operations.actions.topics import DeleteTopic, RemoveRoutes
from backend.services.operations.kind import Action, OperationContext
from backend.services.operations.masters import Master, Silence, ask_each
from backend.services.operations.placements import listed


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
    return [await _find(word, name, masters, context) for word, name in topic_names(group).items()]


def topic_names(group: str) -> dict[str, str]:
    """Name the topics of a consumer group, each under the word that names its steps."""
    return {"retries": retry_topic(group), "dead-letters": dead_letter_topic(group)}


def actions(cluster_name: str, found: Sequence[Leftover]) -> list[Action]:
    """Delete each topic on one master after another, then in the routes."""
    made: list[Action] = []
    for one in found:
        topic, word = one.topic_name, one.word
        made += [
            DeleteTopic(cluster_name, on.group_name, on.address, topic, leftover=word)
            for on in one.holders
        ]
        if one.holders:
            names = tuple(master.group_name for master in one.holders)
            made.append(RemoveRoutes(cluster_name, topic, names, leftover=word))
    return made


def facts_of(found: Sequence[Leftover]) -> list[dict[str, Any]]:
    """Show for programs what goes with the group."""
    return [
        {
            "topic_name": one.topic_name,
            "messages": one.message_count,
            "brokers": listed(one.holders),
        }
        for one in found
        if one.holders
    ]


async def _find(
    word: str, topic: str, masters: Sequence[Master], context: OperationContext
) -> Leftover:
    brokers = context.brokers
    layouts = await ask_each(masters, lambda one: brokers.topic_layout(one.address, topic))
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
