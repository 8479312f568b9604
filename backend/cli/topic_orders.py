"""The commands `regent topic create`, `set` and `delete`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, Option, field_of, option_of, orders
from backend.domain.orders.topic import ChangeTopic, CreateTopic, DeleteTopic

TARGET: Final = "topic {topic_name}".format_map
NAME: Final = {"topic_name": "name"}
WRITTEN: Final = field_of(ChangeTopic, "write_queue_count")
READ: Final = field_of(ChangeTopic, "read_queue_count")
QUEUES_TEXT: Final = (
    "How many queues producers write in each broker group; consumers read as many without"
    " --read-queues."
)
READ_QUEUES: Final[Option] = option_of(
    READ, text="How many queues consumers read, where that is another number."
)


@orders(
    CreateTopic,
    TARGET,
    places=NAME,
    own={
        "write_queue_count": option_of(field_of(CreateTopic, WRITTEN.name), text=QUEUES_TEXT),
        "read_queue_count": READ_QUEUES,
    },
)
def create_topic(given: Given) -> Mapping[str, Any]:
    """Create a topic on all broker groups, or on those named.

    Refused where it is there already. Taken back by deleting it, for as long as it is empty.

    Examples:
        regent topic create orders --dry-run
        regent topic create orders --queues 16 --broker-group broker-a --broker-group broker-b
    """
    return _read_as_written(given)


@orders(
    ChangeTopic,
    TARGET,
    places=NAME,
    own={
        "write_queue_count": option_of(WRITTEN, text=QUEUES_TEXT),
        "read_queue_count": READ_QUEUES,
    },
)
def change_topic(given: Given) -> Mapping[str, Any]:
    """Change a topic on all broker groups that hold it, or on those named.

    What is left out stays as it is. Warns of messages in queues that nobody would read any more.
    Taken back by the former values of each broker.

    Examples:
        regent topic set orders --queues 16
        regent topic set orders --no-writable --broker-group broker-a --dry-run
    """
    return _read_as_written(given)


@orders(DeleteTopic, TARGET, places=NAME)
def delete_topic(given: Given) -> Mapping[str, Any]:
    """Delete a topic with all that is in it, on all broker groups or on those named.

    Shows how many messages are in it and who has not read them. Nothing brings them back. It begins
    ten seconds after it was confirmed, and can be cancelled until then.

    Examples:
        regent topic delete orders --dry-run
        regent topic delete orders --only-empty
    """
    return given.values


def _read_as_written(given: Given) -> Mapping[str, Any]:
    read = given.values["read_queue_count"]
    return {
        **given.values,
        "read_queue_count": given.values["write_queue_count"] if read is None else read,
    }
