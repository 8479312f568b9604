"""The commands `regent message …`: find, show and send messages, and follow a topic."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, choose_cluster, cluster_path
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import (
    Columns,
    bytes_text,
    print_items,
    print_json,
    print_json_line,
    print_line,
    print_table,
    time_text,
)
from backend.cli.paging import (
    ASKED_PAGE_SIZE,
    collect,
    messages_of,
    print_unknown,
)
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.message_body import BodyForm

PAGE_SIZE: Final = 100
FOUND_COUNT_MAX: Final = 64

message = App(
    name=["message", "messages"], help="Find, show and send messages, and follow a topic."
)
message.command("backend.cli.message_orders:send_message", name="send")
message.command("backend.cli.dead_letters:dlq", name="dlq")

COLUMNS: Final[Columns] = {
    "STORED": ("stored_at", time_text),
    "BROKER GROUP": "broker_group_name",
    "QUEUE#": "queue_id",
    "OFFSET#": "queue_offset",
    "ID": "message_id",
    "SENDER'S ID": "unique_key",
    "KEYS": ("keys", " ".join),
    "TAG": "tags",
    "SIZE#": ("body_bytes", bytes_text),
}

Form = Annotated[BodyForm, WORDS]
Count = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=10_000))]
QueueId = Annotated[int, Parameter(validator=validators.Number(gte=0))]
Offset = Annotated[int, Parameter(validator=validators.Number(gte=0))]
Seconds = Annotated[float, Parameter(validator=validators.Number(gt=0))]
Moment = Annotated[datetime | None, Parameter()]


@message.command(name=["get", "show"])
def get_message(
    message_id: str,
    /,
    *,
    topic: str | None = None,
    body: bool = True,
    form: Form = BodyForm.AUTO,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a message: its position, properties and body, and its delivery to each consumer group.

    A unique id of the producer needs --topic; an id that names a position in a broker's commit log
    does not. The body needs the role operator; --no-body leaves the body out.

    Examples:
        regent message get 7F00000100002A9F0000000000000000
        regent message get 7F0000010A3C18B4AAC2 --topic orders --form hex

    Args:
        message_id: Id of the message: the producer's unique id, or the id of a commit log position.
        topic: Name of the topic; the producer's unique id needs it.
        body: Show the body.
        form: Format of the body. The value auto means the first format that fits: JSON, text or
            hex.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = cluster_path(client, cluster, "messages", message_id)
        found = client.get(path, topic_name=topic)
        shown = client.get(f"{path}/body", topic_name=topic, form=form) if body else None
    if options.output == "json":
        print_json(found | ({} if shown is None else {"body": shown}))
        return
    print_line(f"{found['message_id']}  {found['topic']}, stored {time_text(found['stored_at'])}")
    print_table(
        ("PROPERTY", "VALUE"),
        [
            (
                "place",
                (
                    f"{found['broker_group_name']} queue {found['queue_id']}"
                    f" at {found['queue_offset']}"
                ),
            ),
            ("log position", found["log_position"]),
            ("sender's id", found["unique_key"]),
            ("born", f"{time_text(found['born_at'])} at {found['born_host']}"),
            ("stored at", found["store_host"]),
            ("attempts before", found["reconsume_times"]),
            ("size", bytes_text(found["size_bytes"])),
            *sorted(found["properties"].items()),
        ],
    )
    print_items(
        {"CONSUMER GROUP": "consumer_group_name", "IS": "state", "BECAUSE": "why"},
        found["deliveries"],
        title="\nDelivery",
    )
    more = found["consumer_group_count"] - len(found["deliveries"])
    if more > 0:
        print_line(f"{more} more groups consume the topic")
    print_unknown(found["unknown"])
    if shown is not None:
        _print_body(shown)


@message.command(name="find")
def find_messages(
    topic: str,
    /,
    *,
    key: str | None = None,
    unique_key: str | None = None,
    since: Moment = None,
    until: Moment = None,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=64))] = FOUND_COUNT_MAX,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Find messages of a topic by key, or by the unique id that the producer gave the message.

    Examples:
        regent message find orders --key 4711
        regent message find orders --unique-key 7F0000010A3C18B4AAC2
        regent message find orders --key 4711 --since 2026-11-22T10:00:00

    Args:
        topic: Name of the topic.
        key: Key of the message.
        unique_key: Unique id that the producer gave the message.
        since: Only messages that were stored at this time or later. The time is in UTC unless it
            names another zone.
        until: Only messages that were stored before this time.
        limit: Maximum number of messages. If more messages match, the command shows the newest
            messages.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    if (key is None) == (unique_key is None):
        raise CommandError(
            "what to look for?",
            why="either a key or a sender's id is needed, not both",
            next_step=f"regent message find {topic} --key KEY",
            exit_code=ExitCode.USAGE,
        )
    with connect(options) as client:
        path = f"{_topic_path(client, cluster, topic)}/found"
        found = client.get(
            path,
            key=unique_key or key,
            is_unique="true" if unique_key is not None else None,
            begin=_moment(since),
            end=_moment(until),
            limit=limit,
        )
    if options.output == "json":
        print_json(found)
        return
    print_items(COLUMNS, found["items"])
    print_unknown(found["unknown"])
    if not found["is_complete"]:
        print_note("this may not be all: narrow the time, or ask again when all brokers answer")


@message.command(name="list")
def list_messages(
    topic: str,
    /,
    *,
    since: Moment = None,
    until: Moment = None,
    broker_group: str | None = None,
    queue: QueueId | None = None,
    offset: Offset | None = None,
    limit: Count = 32,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """List a topic's messages in the order of their store time, from a time or an offset on.

    Examples:
        regent message list orders --since 2026-11-22T10:00:00 --limit 100
        regent message list orders --broker-group broker-a --queue 3 --offset 41000

    Args:
        topic: Name of the topic.
        since: Only messages that were stored at this time or later. The time is in UTC unless it
            names another zone.
        until: Only messages that were stored before this time.
        broker_group: Only queues of this broker group.
        queue: Only queues with this number.
        offset: Start at this offset. The other options must name exactly one queue.
        limit: Maximum number of messages.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = collect(
            client,
            _topic_path(client, cluster, topic),
            limit=limit,
            begin=_moment(since),
            end=_moment(until),
            broker_group_name=broker_group,
            queue_id=queue,
            offset=offset,
        )
    if options.output == "json":
        print_json(messages_of(found))
        return
    print_items(COLUMNS, found.items)
    print_unknown(found.unknown)


@message.command(name="tail")
def tail_messages(
    topic: str,
    /,
    *,
    broker_group: str | None = None,
    queue: QueueId | None = None,
    ago: Seconds | None = None,
    interval: Seconds = 1.0,
    limit: Count | None = None,
    bodies: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Follow a topic: print new messages until you press Ctrl-C or --limit is reached.

    The command changes no consumer group. It names each broker that does not answer once on
    standard error.

    Examples:
        regent message tail orders
        regent message tail orders --ago 60 --limit 10 --bodies
        regent message tail orders -o json | jq .message_id

    Args:
        topic: Name of the topic.
        broker_group: Only queues of this broker group.
        queue: Only queues with this number.
        ago: Start with messages that were stored this many seconds ago.
        interval: Seconds to wait when there are no new messages.
        limit: Stop after this many messages.
        bodies: Show bodies too; bodies need the role operator.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    wanted = {"broker_group_name": broker_group, "queue_id": queue}
    begin = None if ago is None else _moment(datetime.now(UTC) - timedelta(seconds=ago))
    start = {"begin": begin} if begin else {"from_latest": "true"}
    after, count, shown = None, 0, set[str]()
    with connect(options) as client:
        name = choose_cluster(client, cluster)
        path = _topic_path(client, name, topic)
        while limit is None or count < limit:
            size = ASKED_PAGE_SIZE if limit is None else min(ASKED_PAGE_SIZE, limit - count)
            page = client.get(path, limit=size, after=after, **wanted, **start)
            after = page["next"]
            for one in page["unknown"]:
                if one["address"] not in shown:
                    shown.add(one["address"])
                    print_note(f"unknown: {one['name']} ({one['address']}): {one['why']}")
            for one in page["items"]:
                _print_followed(client, name, one, options, with_body=bodies)
            count += len(page["items"])
            if not page["has_more"] and (limit is None or count < limit):
                sleep(interval)


def _topic_path(client: RestClient, cluster: str | None, topic: str) -> str:
    return cluster_path(client, cluster, "topics", topic, "messages")


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _print_followed(
    client: RestClient, cluster: str, one: dict[str, Any], options: Options, *, with_body: bool
) -> None:
    shown = None
    if with_body:
        path = cluster_path(client, cluster, "messages", one["message_id"], "body")
        shown = client.get(path)
    if options.output == "json":
        print_json_line(one | ({} if shown is None else {"body": shown}))
        return
    place = f"{one['broker_group_name']}/{one['queue_id']}@{one['queue_offset']}"
    tags = one["tags"] or ""
    print_line(f"{time_text(one['stored_at'])}  {place}  {one['message_id']}  {tags}")
    if shown is not None:
        print_line(str(shown["content"]))


def _print_body(shown: Mapping[str, Any]) -> None:
    size = shown["stored_bytes"] if shown["size_bytes"] is None else shown["size_bytes"]
    cut = f", the first {bytes_text(shown['shown_bytes'])}" if shown["is_cut"] else ""
    print_line(f"\nBody, {bytes_text(size)} as {shown['form']}{cut}")
    if shown["note"]:
        print_line(shown["note"])
    print_line(shown["content"])
