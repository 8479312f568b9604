"""The commands `regent message dlq …`: list dead letters, and send them again."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.errors import CommandError
from backend.cli.order_commands import Given, Option, orders
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.paging import collect_messages, print_unknown
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
        place = f"/clusters/{segment(choose_cluster(client, cluster))}"
        found = _collect(client, place, group, limit)
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("STORED", "ID", "BROKER GROUP", "OFFSET#", "TOPIC", "ATTEMPTS#", "KEYS"),
        [
            (
                time_text(one["stored_at"]),
                one["message_id"],
                one["broker_group_name"],
                one["queue_offset"],
                one["properties"].get("RETRY_TOPIC"),
                one["reconsume_times"],
                " ".join(one["keys"]),
            )
            for one in found["messages"]
        ],
    )
    if found["has_more"]:
        print_line("there are more: see --limit")
    print_unknown(found["unknown"])


def _collect(client: RestClient, place: str, group: str, limit: int) -> dict[str, Any]:
    path = f"{place}/topics/{segment(f'%DLQ%{group}')}/messages"
    try:
        return collect_messages(client, path, limit=limit, page_size=PAGE_SIZE)
    except CommandError as error:
        if error.code != "topic_not_found":
            raise
        # Brokers create the topic with the first dead letter. The group itself must exist.
        client.get(f"{place}/consumer-groups/{segment(group)}")
        return {"messages": [], "has_more": False, "unknown": []}


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
