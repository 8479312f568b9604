"""Read masters' layouts of a topic: the common part of the kinds about topics."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.brokers.asking import Answers
from backend.brokers.requests.topics import GetTopicEnds, GetTopicLayout, QueueEnds
from backend.domain.plan import Difference
from backend.domain.topic_layout import TopicLayout
from backend.operations.actions.topics import PutTopic
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import placements
from backend.operations.planning.masters import Master
from backend.operations.planning.placements import Placements

TopicPlacements = Placements[TopicLayout]
Layouts = Mapping[Master, TopicLayout]
Places = Sequence[tuple[Master, TopicLayout]]


async def read_layouts(
    cluster_name: str, topic: str, chosen: Sequence[str], context: OperationContext
) -> TopicPlacements:
    """Ask masters for their layout of a topic.

    Raises:
        InvalidName: the name of the cluster is invalid.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
    """
    return await placements.read_placements(
        "topic", cluster_name, chosen, GetTopicLayout(topic), context
    )


async def read_ends(
    masters: Iterable[Master], topic: str, context: OperationContext
) -> Answers[Master, dict[int, QueueEnds]]:
    """Ask masters for the first and last offsets of a topic's queues."""
    return await context.brokers.ask_all(masters, GetTopicEnds(topic))


def difference(master: Master, before: TopicLayout | None, after: TopicLayout | None) -> Difference:
    """Describe the change of the topic on a master."""
    return Difference(
        master.broker_group_name,
        None if before is None else before.text,
        None if after is None else after.text,
    )


def put_actions(cluster_name: str, topic: str, places: Places, *, is_new: bool) -> list[PutTopic]:
    """Create or change a topic on one master after another."""
    return [
        PutTopic(cluster_name, one.broker_group_name, one.address, topic, layout, is_new)
        for one, layout in places
    ]


def put_facts(places: Sequence[tuple[Master, Any]]) -> dict[str, Any]:
    """Return for programs the new layouts, in the order of the steps."""
    return {
        "brokers": [
            {
                "broker_group_name": master.broker_group_name,
                "address": master.address,
                "after": dataclasses.asdict(after),
            }
            for master, after in places
        ]
    }
