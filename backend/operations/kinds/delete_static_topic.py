"""Delete a static topic on all broker groups; this can't be undone."""

from dataclasses import dataclass
from typing import Final

from backend.db import protections
from backend.domain.orders.static_topic import DeleteStaticTopic
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk, no_undo
from backend.domain.protection import Resource, ResourceKind, check_unprotected, protection_fact
from backend.operations.actions.static_topics import BeginDeletion, DeleteQueues, count_queues
from backend.operations.actions.topics import RemoveRoutes
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import static_topics


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the topic, and the number of its messages; None if it is not known."""

    topic: static_topics.Present
    message_count: int | None

    @property
    def text(self) -> str:
        """Count the messages."""
        count = "an unknown number of" if self.message_count is None else str(self.message_count)
        return f"{count} message{'' if self.message_count == 1 else 's'}"

    @property
    def precondition(self) -> Precondition:
        """Return as a fact whether the topic is empty: producers change the number all the time."""
        count = self.message_count
        return Precondition(
            "messages in it", "unknown" if count is None else "some" if count else "none"
        )


async def read_facts(order: DeleteStaticTopic, context: OperationContext) -> Facts[Present]:
    """Read the mapping, whether the topic is empty, and its protection.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. StaticTopicNotFound: there is no such topic. QueueChangeRefused: a change of the
        topic is not finished.
    """
    topic = await static_topics.read_present(order.cluster_name, order.topic_name, context)
    resource = Resource(order.cluster_name, ResourceKind.TOPIC, order.topic_name)
    async with context.database.connect() as connection:
        protected = await protections.find_of(connection, [resource])
    present = Present(topic, _count_messages(topic))
    return Facts(
        present,
        (*topic.preconditions, protection_fact(protected), present.precondition),
        (
            check_unprotected(protected),
            static_topics.check_answers(topic.holders, topic.mapping.counts.keys()),
            *(() if order.purge else (_check_empty(present),)),
        ),
    )


async def preview(
    order: DeleteStaticTopic, facts: Facts[Present], _context: OperationContext
) -> Plan:
    """Describe what is deleted, and where."""
    present = facts.seen
    mapping = present.topic.mapping
    cluster_name, topic_name = order.cluster_name, order.topic_name
    names = tuple(sorted(mapping.counts))
    is_loss = order.purge and present.message_count != 0
    return Plan(
        summary=f"Static topic {topic_name} is deleted, with {present.text}",
        risk=Risk.LOSS if is_loss else Risk.SERVICE,
        steps=planned_steps(
            [
                BeginDeletion(cluster_name, topic_name, order.purge, mapping.epoch),
                RemoveRoutes(cluster_name, topic_name, names, "unpublish"),
                DeleteQueues(cluster_name, topic_name, order.purge),
                RemoveRoutes(cluster_name, topic_name, names),
            ]
        ),
        changes=tuple(
            Difference(name, count_queues(len(mapping.led_by(name))), None) for name in names
        ),
        impact=(
            f"Sends to {topic_name} are refused, or create it where brokers create topics on use",
            "Consumer groups lose their positions in it",
            "Restart connected clients of RocketMQ before they use an ordinary topic of the name",
        ),
        checks=facts.checks,
        way_back=no_undo("a topic of the same name begins empty"),
        loss=present.text if is_loss else None,
        facts={"messages": present.message_count},
    )


def _count_messages(topic: static_topics.Present) -> int | None:
    """Count the messages in all segments; None if a broker group does not report its queues."""
    places = [segment.place for _, segment in topic.mapping.places()]
    if any(one not in topic.bounds for one in places):
        return None
    found = [topic.bounds[one] for one in places]
    return sum(max(0, one.max_offset - one.min_offset) for one in found)


def _check_empty(present: Present) -> Check:
    if present.message_count == 0:
        return Check("it is empty", CheckVerdict.PASS, "no message is in it")
    return Check("it is empty", CheckVerdict.BLOCK, f"in it are {present.text}")


KIND: Final = Kind(
    "delete_static_topic",
    DeleteStaticTopic,
    read_facts,
    preview,
    (BeginDeletion, DeleteQueues, RemoveRoutes),
)
