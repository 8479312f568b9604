"""Check that the members of broker groups can share the queues of a topic by lease."""

from backend.domain.plan import Check, CheckVerdict
from backend.operations.engine.kind import OperationContext
from backend.operations.planning.topic_layouts import Places
from backend.rules.attributes import TIME_SHARE
from backend.services.controller.group_changes import BrokerGroupName, find_group


async def check_share_mode(
    cluster_name: str, places: Places, context: OperationContext
) -> list[Check]:
    """Check that a controller leads each broker group that gets the topic in SHARED mode.

    Each broker group refuses the mode as well if one of its members is of RocketMQ. An attribute
    that only SHARED mode reads is worth a warning.
    """
    checks = await _check_members(cluster_name, places, context)
    if any(layout.is_time_shared and not layout.is_shared for _, layout in places):
        why = "it has no effect in PRIMARY mode: set the share mode SHARED as well"
        checks.append(Check(TIME_SHARE, CheckVerdict.WARN, why))
    return checks


async def _check_members(
    cluster_name: str, places: Places, context: OperationContext
) -> list[Check]:
    names = sorted({one.broker_group_name for one, layout in places if layout.is_shared})
    if not names:
        return []
    what = "members can share its queues"
    for name in names:
        if await find_group(BrokerGroupName(name, cluster_name), context.controller) is None:
            why = (
                f"no controller leads broker group {name}, so no member but its master has a lease:"
                " switch the group to controller mode first, or leave it out"
            )
            return [Check(what, CheckVerdict.BLOCK, why)]
    return [Check(what, CheckVerdict.PASS, "a controller leads each of the broker groups")]
