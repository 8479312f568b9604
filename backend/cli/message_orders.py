"""The command `regent message send`."""

import base64
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from backend.cli.errors import CommandEnded, CommandError, ExitCode
from backend.cli.order_commands import Given, Option, acts
from backend.cli.output import print_json, print_line, print_table
from backend.cli.reader import print_note
from backend.domain.orders.message import BodyEncoding, SendMessage

BODY: Final = Option(
    word="body", text="Body of the message as text.", kind=str | None, default=None
)
FILE: Final = Option(
    word="file",
    text="File with the body of the message.",
    kind=Path | None,
    default=None,
)
PROPERTY: Final = Option(
    word="property",
    text="Property of the message as NAME=VALUE. Repeatable.",
    kind=Annotated[list[str] | None, Parameter(negative="")],
    default=None,
)


def _send(given: Given, order: Mapping[str, Any]) -> None:
    sent = given.client.post("/messages", order)
    if given.is_json:
        print_json(sent)
    else:
        _print_sent(sent)
    if sent["doubt"] is not None:
        print_note(
            f"{sent['broker_group_name']} did not confirm in time ({sent['doubt']}): the message is"
            " stored, and is lost if the master is lost now"
        )
        raise CommandEnded(ExitCode.OUTCOME_UNKNOWN)


@acts(
    SendMessage,
    "topic {topic_name}".format_map,
    _send,
    places={"topic_name": "topic"},
    own={"body": BODY, "file": FILE, "body_encoding": None, "properties": PROPERTY},
)
def send_message(given: Given) -> Mapping[str, Any]:
    """Send one message to a topic, and show where it is stored.

    Without --body and --file, the command reads the body from standard input. The message is sent
    at once: there is no plan, and no undo. The audit keeps the size and the SHA-256 of the body
    only. If the broker does not answer, the message may be stored (exit code 7); the command never
    sends a message twice.

    Examples:
        regent message send orders --body '{"id": 4711}' --key 4711 --tag created
        regent message send orders --file order.json --property source=test
        regent message send orders --body later --delay-level 3
        gzip -c order.json | regent message send orders --queue 2
    """
    values = dict(given.values)
    body = _read_body(values.pop("body"), values.pop("file"))
    if not body:
        raise _usage("the body is empty", "give a body: brokers store no message without one")
    return {
        **values,
        "body": base64.b64encode(body).decode(),
        "body_encoding": BodyEncoding.BASE64.value,
        "properties": [_read_property(one) for one in values["properties"]],
    }


def _read_body(text: str | None, file: Path | None) -> bytes:
    if text is not None and file is not None:
        raise _usage("--body and --file each give a body", "leave one of them out")
    if text is not None:
        return text.encode()
    if file is not None:
        try:
            return file.read_bytes()
        except OSError as error:
            raise _usage(f"cannot read {file}: {error.strerror}", "check --file") from error
    if sys.stdin.isatty():
        raise _usage("the message has no body", "give --body or --file, or pipe the body in")
    return sys.stdin.buffer.read()


def _read_property(given: str) -> dict[str, str]:
    name, mark, value = given.partition("=")
    if not mark:
        raise _usage(f"--property {given} has no value", "write --property NAME=VALUE")
    return {"name": name, "value": value}


def _usage(what: str, next_step: str) -> CommandError:
    return CommandError(what, next_step=next_step, exit_code=ExitCode.USAGE)


def _print_sent(sent: Mapping[str, Any]) -> None:
    offset = sent["queue_offset"]
    place = f"{sent['broker_group_name']} queue {sent['queue_id']}"
    print_table(
        ("PROPERTY", "VALUE"),
        [
            ("state", sent["state"]),
            ("id", sent["message_id"]),
            ("unique id", sent["unique_key"]),
            ("place", place if offset is None else f"{place} at {offset}"),
            ("body", f"{sent['body_bytes']} bytes, SHA-256 {sent['body_sha256']}"),
        ],
    )
    if offset is None:
        find = f"regent message find {sent['topic_name']} --unique-key {sent['unique_key']}"
        print_line(f"The message is delayed. After the delay it is found by: {find}")
