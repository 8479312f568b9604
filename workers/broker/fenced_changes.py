"""Carry out a change that a step of an operation asks for: fenced, once, and told (D20).

The requests are stock's. What makes them steps is the fields of ours beside those of stock, and
the answer is of ours too: the value before and after.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final

import msgspec
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import SubscriptionGroupConfig
from backend.remoting.bodies.locks import ReleaseBody, ReleasesBody
from backend.remoting.command import answer
from backend.remoting.headers import (
    DeleteGroupHeader,
    EffectAnswer,
    FencedAnswer,
    FenceHeader,
    InvalidHeader,
    ResetOffsetHeader,
    TopicHeader,
    UpdateConsumerOffsetHeader,
    decode_header,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import InvalidName
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.caller import Caller
from workers.broker.errors import Refusal
from workers.broker.fences import Change, Overtaken
from workers.broker.live_settings import describe_present
from workers.broker.processors.locks import queue_of
from workers.broker.processors.maintenance import queues_without_topic

Outcome = bytes | None | Awaitable[bytes]
Processor = Callable[[Broker, Caller, Command], Outcome]


@dataclass(frozen=True, slots=True)
class Target:
    """Name what a request changes, and say how its present value is read."""

    name: str
    read: Callable[[], Any]
    """May have to be awaited."""
    is_own: bool = True
    """Whether it is of this broker alone, so that no other one needs to know of the change."""


def _topic(broker: Broker, command: Command) -> Target:
    name = decode_header(TopicHeader, command.ext).topic
    return Target(f"topic {name}", lambda: _plain(broker.topics.find(name)), is_own=False)


def _put_group(broker: Broker, command: Command) -> Target:
    return _group(broker, java_json.decode(command.body or b"{}", SubscriptionGroupConfig).name)


def _delete_group(broker: Broker, command: Command) -> Target:
    return _group(broker, decode_header(DeleteGroupHeader, command.ext).group)


def _group(broker: Broker, name: str) -> Target:
    return Target(f"consumer group {name}", lambda: _plain(broker.groups.find(name)), is_own=False)


def _config(broker: Broker, command: Command) -> Target:
    return Target("configuration", lambda: describe_present(broker, command))


def _offsets(broker: Broker, command: Command) -> Target:
    header = decode_header(ResetOffsetHeader, command.ext)

    def read() -> dict[str, int]:
        return {
            str(queue_id): offset
            for queue_id, offset in broker.offsets.of_topic(header.group, header.topic).items()
            if header.queue_id in {-1, queue_id}
        }

    return Target(f"offsets of {header.group} in {header.topic}", read, is_own=False)


def _locks(broker: Broker, command: Command) -> Target:
    wanted = java_json.decode(command.body or b"{}", ReleasesBody).locks
    holders = " ".join(sorted({one.client_id for one in wanted}))

    def read() -> list[dict[str, Any]]:
        return [_holder(broker, one) for one in wanted]

    return Target(f"locks of {holders}", read)


def _holder(broker: Broker, lock: ReleaseBody) -> dict[str, Any]:
    held = broker.locks.find(lock.consumer_group, queue_of(lock), broker.elapsed_ms())
    return {
        "consumerGroup": lock.consumer_group,
        "topic": lock.topic,
        "queueId": lock.queue_id,
        "clientId": None if held is None else held.client_id,
    }


def _commit(broker: Broker, command: Command) -> Target:
    header = decode_header(UpdateConsumerOffsetHeader, command.ext)
    group, topic, queue_id = header.consumer_group, header.topic, header.queue_id or 0

    def read() -> dict[str, int]:
        offset = broker.offsets.find(group, topic, queue_id)
        return {} if offset is None else {str(queue_id): offset}

    return Target(f"offsets of {group} in {topic}", read, is_own=False)


def _unused(broker: Broker, _command: Command) -> Target:
    return Target("queues without a topic", lambda: queues_without_topic(broker), is_own=False)


def _other(_broker: Broker, command: Command) -> Target:
    return Target(f"request {command.code}", lambda: None)


TARGETS: Final[Mapping[int, Callable[[Broker, Command], Target]]] = {
    RequestCode.UPDATE_AND_CREATE_TOPIC: _topic,
    RequestCode.DELETE_TOPIC_IN_BROKER: _topic,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: _put_group,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: _delete_group,
    RequestCode.UPDATE_BROKER_CONFIG: _config,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: _offsets,
    RequestCode.RELEASE_QUEUE_LOCKS: _locks,
    RequestCode.UPDATE_CONSUMER_OFFSET: _commit,
    RequestCode.CLEAN_UNUSED_TOPIC: _unused,
}
"""How the value is read that a request changes; of other requests the effect alone is fenced."""


async def carry_out(
    broker: Broker, caller: Caller, command: Command, processor: Processor
) -> bytes:
    """Make the change that a request asks for, unless it is made, and tell what it changed.

    Raises:
        Refusal: what the processor refuses.
        InvalidHeader: the fields of ours are incomplete.
        Unconfirmed: it is made here, and may survive or not.
    """
    header = decode_header(FenceHeader, command.ext)
    target = TARGETS.get(command.code, _other)(broker, command)
    fences = broker.state.own_fences if target.is_own else broker.state.fences
    async with fences.turn(target.name):
        try:
            change = await fences.admit(target.name, header, await _value(target))
        except Overtaken as error:
            return answer(
                command,
                code=ResponseCode.OPERATION_FENCED,
                remark=str(error),
                ext=encode_header(FencedAnswer(held_fence=error.held)),
            )
        if not change.is_made:
            try:
                if broker.replication is not None:
                    # Another broker may have become master since.
                    broker.replication.check(command.code)
                outcome = processor(broker, caller, command)
                if isawaitable(outcome):
                    await outcome
            except (Refusal, InvalidHeader, InvalidJson, InvalidName):
                fences.forget(header)
                raise
            change = Change(before=change.before, after=await _value(target), is_made=True)
            await fences.conclude(target.name, header, change)
        if not target.is_own:
            await broker.changes.confirmed()
    told = EffectAnswer(before=_text(change.before), after=_text(change.after))
    return answer(command, ext=encode_header(told))


async def _value(target: Target) -> Any:
    value = target.read()
    return await value if isawaitable(value) else value


def _plain(value: object) -> Any:
    return None if value is None else msgspec.to_builtins(value)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
