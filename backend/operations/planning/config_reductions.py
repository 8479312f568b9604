"""Describe the effect of a smaller value of a broker's property, with counts (case A8)."""

from collections.abc import Mapping
from typing import Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.figures import GetBrokerSample
from backend.brokers.requests.topics import GetDelayedCounts
from backend.domain.broker_property import BrokerProperty
from backend.domain.plan import Check, CheckVerdict
from backend.operations.engine.kind import OperationContext

DELAY_LEVELS: Final = "messageDelayLevel"
MESSAGE_SIZE: Final = "maxMessageSize"
RETENTION_HOURS: Final = "fileReservedTime"
RETENTION_BYTES: Final = "fileReservedBytes"


async def check(
    address: str,
    known: Mapping[str, BrokerProperty],
    changed: Mapping[str, str],
    context: OperationContext,
) -> list[Check]:
    """Read the stored data of the broker, for each property that becomes smaller."""
    former = {name: known[name].configured for name in changed}
    checks: list[Check] = []
    if DELAY_LEVELS in changed:
        before, after = former[DELAY_LEVELS].split(), changed[DELAY_LEVELS].split()
        checks += await _check_delay_levels(address, before, after, context)
    if _is_less(former.get(MESSAGE_SIZE), changed.get(MESSAGE_SIZE)):
        checks += await _check_message_size(address, changed[MESSAGE_SIZE], context)
    if _is_less(former.get(RETENTION_HOURS), changed.get(RETENTION_HOURS)):
        checks.append(await _check_hours(address, changed[RETENTION_HOURS], context))
    if _is_less(former.get(RETENTION_BYTES) or None, changed.get(RETENTION_BYTES)):
        checks.append(await _check_bytes(address, int(changed[RETENTION_BYTES]), context))
    return checks


def _is_less(before: str | None, after: str | None) -> bool:
    """Return whether a property becomes smaller; after no limit, any limit is smaller."""
    if after is None or not after.isdecimal() or after == before:
        return False
    return before is None or not before.isdecimal() or int(after) < int(before)


async def _check_delay_levels(
    address: str, before: list[str], after: list[str], context: OperationContext
) -> list[Check]:
    name = "no delayed message waits in a level that changes"
    touched = {
        level for level, delay in enumerate(before, 1) if after[level - 1 : level] != [delay]
    }
    if not touched:
        return []
    waiting = await _waiting(address, context)
    if isinstance(waiting, str):
        return [Check(name, CheckVerdict.WARN, waiting)]
    left = {level: count for level, count in waiting.items() if level in touched}
    if not left:
        return [Check(name, CheckVerdict.PASS, "these levels are empty")]
    counts = ", ".join(f"{count} in level {level}" for level, count in left.items())
    why = (
        f"{sum(left.values())} messages wait there: {counts}. Each is still delivered when it is"
        " due. A message that is sent with a level above the last one gets the last one"
    )
    return [Check(name, CheckVerdict.WARN, why)]


async def _check_message_size(
    address: str, size_max: str, context: OperationContext
) -> list[Check]:
    name = "no waiting delayed message is too long"
    waiting = await _waiting(address, context)
    if isinstance(waiting, str):
        return [Check(name, CheckVerdict.WARN, waiting)]
    if not waiting:
        return [Check(name, CheckVerdict.PASS, "no delayed message waits")]
    why = (
        f"{sum(waiting.values())} delayed messages wait. One that is longer than {size_max} bytes"
        " can't be delivered, and holds up its level, until the limit is raised again"
    )
    return [Check(name, CheckVerdict.WARN, why)]


async def _check_hours(address: str, hours: str, context: OperationContext) -> Check:
    name = "nothing that is kept now is deleted"
    held = await _held_bytes(address, context)
    if isinstance(held, str):
        return Check(name, CheckVerdict.WARN, held)
    why = (
        f"the log holds {held} bytes; a file whose last message is older than {hours} hours is"
        " deleted at the next cleaning, with messages that no consumer has read"
    )
    return Check(name, CheckVerdict.WARN, why)


async def _check_bytes(address: str, bytes_max: int, context: OperationContext) -> Check:
    name = "nothing that is kept now is deleted"
    held = await _held_bytes(address, context)
    if isinstance(held, str):
        return Check(name, CheckVerdict.WARN, held)
    if held <= bytes_max:
        return Check(name, CheckVerdict.PASS, f"the log holds {held} bytes")
    why = (
        f"the log holds {held} bytes, {held - bytes_max} more than that; its oldest files are"
        " deleted at the next cleaning, with messages that no consumer has read"
    )
    return Check(name, CheckVerdict.WARN, why)


async def _held_bytes(address: str, context: OperationContext) -> int | str:
    """Name the size of the log in bytes, or why it is unknown."""
    try:
        sample = await context.brokers.ask(address, GetBrokerSample())
    except NoAnswer as error:
        return f"the broker does not report what it holds: {error}"
    return sample.commit_log_max_position - sample.commit_log_min_position


async def _waiting(address: str, context: OperationContext) -> dict[int, int] | str:
    """Count the waiting delayed messages by level, or say why the count is unknown."""
    try:
        return await context.brokers.ask(address, GetDelayedCounts())
    except NoAnswer as error:
        return f"the broker does not report how many messages wait: {error}"
