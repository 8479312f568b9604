"""Create a consumer group on masters; an undo deletes it if no client uses it."""

from typing import Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.consumer_group import CreateConsumerGroup
from backend.domain.plan import Plan, Risk
from backend.operations.actions.consumer_groups import PutConsumerGroup
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import group_settings, masters, topic_layouts
from backend.operations.planning.group_settings import GroupPlacements


async def read_facts(
    order: CreateConsumerGroup, context: OperationContext
) -> Facts[GroupPlacements]:
    """Read where the group already exists.

    Raises:
        InvalidParameters: a broker group is named twice.
        InvalidName: the name is invalid for a cluster, or for a consumer group of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
    """
    group = masters.check_consumer_group(order.consumer_group_name)
    exact = _exact(order)
    if exact and order.broker_groups:
        raise InvalidParameters(KIND.name, "settings already name their broker groups")
    chosen = tuple(exact) or order.broker_groups
    found = await group_settings.read_settings(order.cluster_name, group, chosen, context)
    checks = (found.masters_check, found.answers_check, found.absence_check)
    return Facts(found, found.preconditions, checks)


async def preview(
    order: CreateConsumerGroup, facts: Facts[GroupPlacements], context: OperationContext
) -> Plan:
    """Describe where the group would be created."""
    meant, exact = facts.seen.meant.found, _exact(order)
    wished = group_settings.wish_of(order).of(GroupSettings())
    places = [(one, exact.get(one.broker_group_name, wished)) for one in meant]
    where = masters.count_groups(places)
    return Plan(
        summary=f"Consumer group {order.consumer_group_name} is created on {where}",
        risk=Risk.SMALL,
        steps=planned_steps(
            group_settings.put_actions(
                order.cluster_name, order.consumer_group_name, places, is_new=True
            )
        ),
        changes=tuple(
            change
            for one, after in places
            for change in group_settings.differences(one, None, after)
        ),
        impact=("Consumers of the group may connect where brokers create no groups by themselves",),
        checks=(*facts.checks, await masters.check_fencing(meant, context)),
        way_back="Delete it again, as long as it is not used",
        facts=topic_layouts.put_facts(places),
    )


KIND: Final = Kind(
    "create_consumer_group", CreateConsumerGroup, read_facts, preview, (PutConsumerGroup,)
)


def _exact(order: CreateConsumerGroup) -> dict[str, GroupSettings]:
    return {one.broker_group_name: one.settings for one in order.settings}
