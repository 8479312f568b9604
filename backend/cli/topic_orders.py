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
    "Number of queues that producers write in each broker group. Without"
    " --read-queues, consumers read the same number."
)
READ_QUEUES: Final[Option] = option_of(
    READ, text="Number of queues that consumers read, if it differs from --queues."
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
    """Create a topic on all broker groups, or on the named broker groups.

    Regent refuses the creation if one of the broker groups already has the topic. An undo deletes
    the topic, if the topic is empty.

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
    """Change a topic on all broker groups that hold it, or on the named broker groups.

    Settings that you leave out stay unchanged. The plan warns about messages in queues that
    consumers would no longer read. An undo sets the former values of each broker.

    Examples:
        regent topic set orders --queues 16
        regent topic set orders --no-writable --broker-group broker-a --dry-run
    """
    return _read_as_written(given)


@orders(DeleteTopic, TARGET, places=NAME)
def delete_topic(given: Given) -> Mapping[str, Any]:
    """Delete a topic with all its messages, on all broker groups or on the named broker groups.

    The plan shows the number of messages, and the consumer groups that have not read them. Deleted
    messages cannot be restored. The operation starts ten seconds after you confirm it; you can
    cancel it until then.

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
