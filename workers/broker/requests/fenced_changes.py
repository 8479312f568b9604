"""Carry out a change that a step of an operation asks for: fenced, once, and told (D20).

The requests are stock's. What makes them steps is the fields of ours beside those of stock, and
the answer is of ours too: the value before and after.
"""

from inspect import isawaitable
from typing import Any

import msgspec
from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.headers import (
    EffectAnswer,
    FencedAnswer,
    FenceHeader,
    InvalidHeader,
    decode_header,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import InvalidName
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.fences import Change, Overtaken
from workers.broker.requests.serving import Served


async def carry_out(broker: Broker, caller: Caller, command: Command, served: Served) -> bytes:
    """Make the change that a request asks for, unless it is made, and tell what it changed.

    Raises:
        Refusal: what the processor refuses.
        InvalidHeader: the fields of ours are incomplete.
        Unconfirmed: it is made here, and may survive or not.
    """
    header = decode_header(FenceHeader, command.ext)
    find_target = served.find_target or _without_value
    target = find_target(broker, command)
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
                # Another broker may have become master since.
                broker.membership.check(served.role)
                outcome = served.processor(broker, caller, command)
                if isawaitable(outcome):
                    await outcome
            except (Refusal, InvalidHeader, InvalidJson, InvalidName):
                fences.forget(header)
                raise
            change = Change(before=change.before, after=await _value(target), is_made=True)
            await fences.conclude(target.name, header, change)
        if not target.is_own:
            await broker.changes.confirmed()
    effect = EffectAnswer(before=_text(change.before), after=_text(change.after))
    return answer(command, ext=encode_header(effect))


def _without_value(_broker: Broker, command: Command) -> FenceTarget:
    """Have the effect alone fenced."""
    return FenceTarget(f"request {command.code}", lambda: None)


async def _value(target: FenceTarget) -> Any:
    value = target.read()
    return msgspec.to_builtins(await value if isawaitable(value) else value)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
