"""The commands `regent message dlq …`: list dead letters, and send them again."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, cluster_path
from backend.cli.errors import CommandError
from backend.cli.order_commands import Given, Option, orders
from backend.cli.output import print_items, print_json, print_line, time_text
from backend.cli.paging import Found, collect, messages_of, print_unknown
from backend.cli.rest import RestClient, connect, segment
from backend.cli.target import Options
from backend.domain.orders.dead_letter import ResendDeadLetters

PAGE_SIZE: Final = 100

dlq = App(name="dlq", help="List dead letters of a consumer group, and send them again.")

Count = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=10_000))]


@dlq.command(name="list")
def list_dead_letters(
    group: str,
    /,
    *,
    limit: Count = 100,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """List the dead letters of a consumer group, the oldest first.

    A dead letter is a message that the group could not handle after all its retries.

    Examples:
        regent message dlq list billing
        regent message dlq list billing -o json | jq -r .messages[].message_id

    Args:
        group: Name of the consumer group.
        limit: Maximum number of dead letters.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = _collect(client, cluster_path(client, cluster), group, limit)
    if options.output == "json":
        print_json(messages_of(found))
        return
    print_items(
        {
            "STORED": ("stored_at", time_text),
            "ID": "message_id",
            "BROKER GROUP": "broker_group_name",
            "OFFSET#": "queue_offset",
            "TOPIC": lambda one: one["properties"].get("RETRY_TOPIC"),
            "ATTEMPTS#": "reconsume_times",
            "KEYS": ("keys", " ".join),
        },
        found.items,
    )
    if found.has_more:
        print_line("there are more: see --limit")
    print_unknown(found.unknown)


def _collect(client: RestClient, place: str, group: str, limit: int) -> Found:
    path = f"{place}/topics/{segment(f'%DLQ%{group}')}/messages"
    try:
        return collect(client, path, limit=limit)
    except CommandError as error:
        if error.code != "topic_not_found":
            raise
        # Brokers create the topic with the first dead letter. The group itself must exist.
        client.get(f"{place}/consumer-groups/{segment(group)}")
        return Found([], [], has_more=False)


@orders(
    ResendDeadLetters,
    "dead letters of consumer group {consumer_group_name}".format_map,
    places={
        "consumer_group_name": "group",
        "message_ids": Option(
            word="id",
            text="Id of a dead letter. Default: all dead letters of the group, the oldest first.",
            takes_rest=True,
        ),
    },
)
def resend_dead_letters(given: Given) -> Mapping[str, Any]:
    """Send dead letters of a consumer group again: the named ones, or all of them.

    The copies go to the group's retry topic. Only this group reads them. With `--destination
    topic`, the copies go to the original topic, and all its groups read them. The dead letters stay
    in place; a later resend leaves out what was sent, unless you give --again. You can pause and
    cancel the operation between two batches. A resend cannot be undone.

    Examples:
        regent message dlq resend billing --dry-run
        regent message dlq resend billing --limit 500 --reason "database is back"
        regent message dlq resend billing 7F00000100002A9F0000000000000000
    """
    return {**given.values, "message_ids": list(given.values["message_ids"])}


dlq.command(resend_dead_letters, name="resend")
