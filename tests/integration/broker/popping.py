"""Consumers by POP: what they ask, and handles as the client of Java makes them."""

from dataclasses import dataclass
from typing import Any

from regent_engine import Command, decode_records

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client

INVISIBLE_MS = 60_000
SHORT_MS = 1_000
"""The time after which a message comes again, where a test waits for that."""


@dataclass(frozen=True, slots=True)
class Popped:
    """One message that a consumer has."""

    topic: str
    queue_id: int
    offset: int
    body: bytes
    handle: str
    reconsume_times: int
    log_position: int


def pop_fields(topic: str = "T", group: str = "g", **fields: Any) -> dict[str, Any]:
    known = {
        "consumerGroup": group,
        "topic": topic,
        "queueId": -1,
        "maxMsgNums": 32,
        "invisibleTime": INVISIBLE_MS,
        "pollTime": 10,
        # A request that names a time gets no messages if it arrives late, as on a busy machine.
        "bornTime": 0,
        "initMode": 0,
        "expType": "TAG",
        "exp": "*",
        "order": "false",
    }
    return known | fields


async def pop(client: Client, topic: str = "T", group: str = "g", **fields: Any) -> list[Popped]:
    """Give the messages of one POP; none after its wait."""
    told = await client.call(RequestCode.POP_MESSAGE, pop_fields(topic, group, **fields))
    if told.code == 210:
        return []
    assert told.code == 0, told.remark
    return popped(told)


def popped(told: Command) -> list[Popped]:
    starts = dict(one.rsplit(" ", 1) for one in told.ext["startOffsetInfo"].split(";"))
    listed = dict(one.rsplit(" ", 1) for one in told.ext["msgOffsetInfo"].split(";"))
    found = []
    for record in decode_records(told.body):
        flag = 2 if record.topic.startswith("%RETRY%") and "+" in record.topic else 0
        key = f"{flag} {record.queue_id}"
        assert str(record.queue_offset) in listed[key].split(",")
        handle = [starts[key], told.ext["popTime"], told.ext["invisibleTime"]]
        handle += [told.ext["reviveQid"], str(flag), "broker-t", str(record.queue_id)]
        found.append(
            Popped(
                record.topic,
                record.queue_id,
                record.queue_offset,
                record.body,
                " ".join([*handle, str(record.queue_offset)]),
                record.reconsume_times,
                record.log_position,
            )
        )
    return found


def handle_fields(message: Popped, group: str = "g", **fields: Any) -> dict[str, Any]:
    return {
        "consumerGroup": group,
        "topic": message.topic,
        "queueId": message.queue_id,
        "extraInfo": message.handle,
        "offset": message.offset,
    } | fields


async def ack(client: Client, message: Popped, group: str = "g") -> int:
    return (await client.call(RequestCode.ACK_MESSAGE, handle_fields(message, group))).code


async def change(client: Client, message: Popped, invisible_ms: int, group: str = "g") -> Command:
    fields = handle_fields(message, group, invisibleTime=invisible_ms)
    return await client.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)


async def set_mode(client: Client, mode: str, topic: str = "T", group: str = "g") -> Command:
    body = {"topic": topic, "consumerGroup": group, "mode": mode, "popShareQueueNum": 0}
    return await client.call(RequestCode.SET_MESSAGE_REQUEST_MODE, body=java_json.encode(body))


def bodies(messages: list[Popped]) -> list[bytes]:
    return sorted(one.body for one in messages)
