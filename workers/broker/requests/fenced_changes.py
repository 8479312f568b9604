"""Make a change for a step of an operation: fenced, once, with the values around it (D20).

The requests are stock's. Additional fields of ours make them steps, and the answer is ours too: the
value before and after.
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
    """Make the change of a request, unless it was made before, and return both values.

    Raises:
        Refusal: the processor refuses.
        InvalidHeader: our fields are incomplete.
        Unconfirmed: the change is made here, and may be lost.
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
    """Let only the effect be fenced."""
    return FenceTarget(f"request {command.code}", lambda: None)


async def _value(target: FenceTarget) -> Any:
    value = target.read()
    return msgspec.to_builtins(await value if isawaitable(value) else value)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
