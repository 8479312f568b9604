"""Find the topics that belong to a consumer group: retries and dead letters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.brokers.asking import Answers
from backend.brokers.requests.topics import GetTopicLayout
from backend.domain.topic_layout import TopicLayout
from backend.operations.actions.topics import DeleteTopic, RemoveRoutes
from backend.operations.engine.kind import Action, OperationContext
from backend.operations.planning import topic_layouts
from backend.operations.planning.masters import Master
from backend.operations.planning.placements import listed
from backend.remoting.names import dead_letter_topic, retry_topic


@dataclass(frozen=True, slots=True)
class GroupRemainder:
    """Hold the masters that have such a topic, and its number of messages; None if unknown.

    The word is part of the names of its steps.
    """

    word: str
    topic_name: str
    holders: tuple[Master, ...]
    message_count: int | None
    layouts: Answers[Master, TopicLayout | None]

    @property
    def text(self) -> str:
        """Describe how many messages it holds."""
        count = "an unknown number of" if self.message_count is None else str(self.message_count)
        return f"{count} message{'' if count == '1' else 's'} in {self.topic_name}"


async def find_remainders(
    group: str, masters: Sequence[Master], context: OperationContext
) -> list[GroupRemainder]:
    """Ask masters for the topics of a consumer group, and for their messages."""
    return [await _find(word, name, masters, context) for word, name in topic_names(group).items()]


def topic_names(group: str) -> dict[str, str]:
    """Return the topics of a consumer group, each with the word for its steps."""
    return {"retries": retry_topic(group), "dead-letters": dead_letter_topic(group)}


def actions(cluster_name: str, found: Sequence[GroupRemainder]) -> list[Action]:
    """Delete each topic on one master after another, then from the routes."""
    made: list[Action] = []
    for one in found:
        topic, word = one.topic_name, one.word
        made += [
            DeleteTopic(cluster_name, on.broker_group_name, on.address, topic, leftover=word)
            for on in one.holders
        ]
        if one.holders:
            names = tuple(master.broker_group_name for master in one.holders)
            made.append(RemoveRoutes(cluster_name, topic, names, leftover=word))
    return made


def facts_of(found: Sequence[GroupRemainder]) -> list[dict[str, Any]]:
    """List for programs the topics that are deleted with the group."""
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
) -> GroupRemainder:
    layouts = await context.brokers.ask_all(masters, GetTopicLayout(topic))
    holders = sorted(one for one, layout in layouts.answers.items() if layout is not None)
    ends = await topic_layouts.read_ends(holders, topic, context)
    count = sum(end.count for counts in ends.answers.values() for end in counts.values())
    is_known = not (layouts.silent or ends.silent)
    return GroupRemainder(word, topic, tuple(holders), count if is_known else None, layouts)
