"""The commands `regent offset …`: the offsets of consumer groups."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from cyclopts import App

from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, Option, field_of, option_of, orders
from backend.domain.orders.offset import ResetOffsets

offset = App(name=["offset", "offsets"], help="Change the offsets of consumer groups.")

TARGET: Final = "consumer group {consumer_group_name} in {topic_name}".format_map
WHERE: Final = dict.fromkeys(("position", "timestamp_ms", "offset", "offsets", "source_group"))


@offset.command(name="reset")
@orders(
    ResetOffsets,
    TARGET,
    places={"consumer_group_name": "group", "topic_name": "topic"},
    own={
        **WHERE,
        "position": Option(
            word="to",
            text="New position: earliest, latest, an offset, or a time such as"
            " 2026-03-02T12:00:00Z.",
        ),
    },
)
def reset_offsets(given: Given) -> Mapping[str, Any]:
    """Set a consumer group's offsets in a topic to another position.

    For each queue, the plan shows the current offset, the new offset, and how many messages are
    skipped or read again. In the mode online, the brokers notify connected consumers. In the mode
    offline, no consumer may be connected. An undo sets the former offsets, so the group reads the
    messages since then again.

    Examples:
        regent offset reset billing orders --to earliest --dry-run
        regent offset reset billing orders --to 2026-03-02T12:00:00Z
        regent offset reset billing orders --to 1200 --broker-group broker-a --queue 3
    """
    return {**given.values, **_place(given.values["position"])}


@offset.command(name="clone")
@orders(
    ResetOffsets,
    TARGET,
    places={
        "source_group": Option(
            word="source", text="Name of the consumer group to copy offsets from."
        ),
        "consumer_group_name": option_of(
            field_of(ResetOffsets, "consumer_group_name"),
            word="target",
            text="Name of the consumer group to copy offsets to.",
        ),
        "topic_name": "topic",
    },
    own=WHERE,
)
def clone_offsets(given: Given) -> Mapping[str, Any]:
    """Set a consumer group's offsets in a topic to the offsets of another consumer group.

    The plan shows the current offset and the new offset of each queue. An undo sets the former
    offsets. A queue in which the source group has no offset stays unchanged.

    Examples:
        regent offset clone billing billing-2 orders --dry-run
        regent offset clone billing billing-2 orders --mode offline
    """
    return {**given.values, "position": "group"}


def _place(to: str) -> dict[str, Any]:
    """Parse the position for the group's new offsets.

    Raises:
        CommandError: the text is no position.
    """
    if to in {"earliest", "latest"}:
        return {"position": to}
    if to.isascii() and to.isdigit():
        return {"position": "offset", "offset": int(to)}
    try:
        moment = datetime.fromisoformat(to)
    except ValueError as error:
        raise CommandError(
            f"{to!r} is no place to go on from",
            why="it is none of earliest, latest, an offset, a time such as 2026-03-02T12:00:00Z",
            exit_code=ExitCode.USAGE,
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return {"position": "time", "timestamp_ms": int(moment.timestamp() * 1000)}
