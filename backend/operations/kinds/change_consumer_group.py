"""Change the settings of a consumer group on masters; an undo sets the former values."""

from dataclasses import dataclass
from typing import Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.operation_errors import ConsumerGroupNotFound, InvalidParameters
from backend.domain.orders.consumer_group import ChangeConsumerGroup
from backend.domain.plan import Plan, Risk
from backend.operations.actions.consumer_groups import PutConsumerGroup
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import group_settings, masters, topic_layouts
from backend.operations.planning.group_settings import GroupPlacements, Places
from backend.operations.planning.masters import Master


@dataclass(frozen=True, slots=True)
class Change:
    """Hold each master's settings of the group, and the new settings of those that change."""

    placements: GroupPlacements
    changed: Places


async def read_facts(order: ChangeConsumerGroup, context: OperationContext) -> Facts[Change]:
    """Read each master's settings of the group.

    Raises:
        InvalidParameters: no change is given, or two that exclude each other.
        InvalidName: the name is invalid for a cluster, or for a consumer group of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
        ConsumerGroupNotFound: no master that was asked knows the group.
    """
    group = masters.check_consumer_group(order.consumer_group_name)
    exact = _exact(order)
    wish = group_settings.wish_of(order)
    chosen = tuple(exact) or order.broker_groups
    found = await group_settings.read_settings(order.cluster_name, group, chosen, context)
    found.check_known(ConsumerGroupNotFound(order.cluster_name, group))
    held = found.held
    wished = {
        one: exact[one.broker_group_name] if exact else wish.of(settings)
        for one, settings in held.items()
    }
    changed = [
        (one, after) for one, after in sorted(wished.items(), key=_name) if after != held[one]
    ]
    checks = (
        found.masters_check,
        found.answers_check,
        found.effect_check(changed, "every master has these values already"),
    )
    return Facts(Change(found, changed), found.preconditions, checks)


async def preview(
    order: ChangeConsumerGroup, facts: Facts[Change], context: OperationContext
) -> Plan:
    """Describe the change on each master that knows the group."""
    group, held, changed = order.consumer_group_name, facts.seen.placements.held, facts.seen.changed
    return Plan(
        summary=f"Consumer group {group} changes on {len(changed)} of {masters.count_groups(held)}",
        risk=Risk.SERVICE,
        steps=planned_steps(
            group_settings.put_actions(order.cluster_name, group, changed, is_new=False)
        ),
        changes=tuple(
            change
            for one, after in changed
            for change in group_settings.differences(one, held[one], after)
        ),
        impact=_impact(group, changed),
        checks=(
            *facts.checks,
            await masters.check_fencing(facts.seen.placements.meant.found, context),
        ),
        way_back="Change it back to the former values, which the journal keeps",
        facts=topic_layouts.put_facts(changed),
    )


async def version(order: ChangeConsumerGroup, context: OperationContext) -> str:
    """Read the version of the group's settings."""
    return await group_settings.read_version(order.cluster_name, order.consumer_group_name, context)


KIND: Final = Kind(
    "change_consumer_group", ChangeConsumerGroup, read_facts, preview, (PutConsumerGroup,), version
)


def _exact(order: ChangeConsumerGroup) -> dict[str, GroupSettings]:
    exact = {one.broker_group_name: one.settings for one in order.settings}
    is_empty = group_settings.wish_of(order).is_empty
    if bool(exact) is not is_empty:
        what = (
            "give at least one value to change" if is_empty else "settings exclude other parameters"
        )
        raise InvalidParameters(KIND.name, what)
    if exact and order.broker_groups:
        raise InvalidParameters(KIND.name, "settings already name their broker groups")
    return exact


def _name(one: tuple[Master, GroupSettings]) -> str:
    return one[0].broker_group_name


def _impact(group: str, changed: Places) -> tuple[str, ...]:
    stopped = [one.broker_group_name for one, after in changed if not after.consume_enabled]
    lines = []
    if len(stopped) < len(changed):
        lines.append(f"Consumers of {group} go on; their next pulls and retries use the new values")
    if stopped:
        lines.append(f"Nothing is read on {masters.shortened(stopped)}; the lag grows")
    return tuple(lines)
