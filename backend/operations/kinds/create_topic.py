"""Create a topic on masters, one after another; an undo deletes it if it is empty."""

from typing import Final

from backend.domain.orders.topic import CreateTopic
from backend.domain.plan import Plan, Risk
from backend.operations.actions.topics import PutTopic
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, topic_layouts
from backend.operations.planning.replication import check_new_replication
from backend.operations.planning.share_modes import check_share_mode
from backend.operations.planning.topic_layouts import TopicPlacements


async def read_facts(order: CreateTopic, context: OperationContext) -> Facts[TopicPlacements]:
    """Read where the topic already exists.

    Raises:
        InvalidName: the name is invalid for a cluster, or for a topic of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
    """
    topic = masters.check_topic(order.topic_name)
    found = await topic_layouts.read_layouts(
        order.cluster_name, topic, order.broker_groups, context
    )
    checks = (found.masters_check, found.answers_check, found.absence_check)
    return Facts(found, found.preconditions, checks)


async def preview(
    order: CreateTopic, facts: Facts[TopicPlacements], context: OperationContext
) -> Plan:
    """Describe where the topic would be created."""
    meant, layout = facts.seen.meant.found, order.layout
    places = [(one, layout) for one in meant]
    return Plan(
        summary=f"Topic {order.topic_name} is created on {masters.count_groups(meant)}",
        risk=Risk.SMALL,
        steps=planned_steps(
            topic_layouts.put_actions(order.cluster_name, order.topic_name, places, is_new=True)
        ),
        changes=tuple(topic_layouts.difference(one, None, layout) for one in meant),
        impact=("Producers and consumers find it after their next route update",),
        checks=(
            *facts.checks,
            *await check_share_mode(order.cluster_name, places, context),
            *await check_new_replication(order.cluster_name, places, context),
            await masters.check_fencing(meant, context),
        ),
        way_back="Delete it again, as long as it is empty",
        facts=topic_layouts.put_facts(places),
    )


KIND: Final = Kind("create_topic", CreateTopic, read_facts, preview, (PutTopic,))
