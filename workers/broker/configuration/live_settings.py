"""Change a running broker's settings: immediately, after a restart, or not at all.

Only the named properties change, in the file too. A value is refused if the broker could not start
with it (D26: none that names a path, a peer or the broker itself).
"""

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from regent_engine import Command

from backend.java_properties import parse_properties_text
from backend.remoting.bodies.properties import PropertiesBody, PropertyBody
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.configuration.declaration import InvalidSetting
from workers.broker.configuration.property_types import Choice, Flag, Percent, QueueFileSize, Whole
from workers.broker.configuration.settings import (
    BrokerSettings,
    describe_settings,
    parse_settings,
)
from workers.broker.errors import Refusal

_FIELDS: Final = {entry.metadata["property"]: entry for entry in dataclasses.fields(BrokerSettings)}
_TYPED: Final = (Choice, Flag, Percent, QueueFileSize, Whole)

Changes = Mapping[str, str | None]


def read_changes(command: Command) -> dict[str, str | None]:
    """Parse the new values of properties; an empty one means the default.

    Raises:
        Refusal: the body is no properties text, or is empty.
    """
    try:
        given = parse_properties_text(command.body.decode())
    except UnicodeDecodeError as error:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the properties are not UTF-8 text") from error
    if not given:
        raise Refusal(ResponseCode.INVALID_PARAMETER, "no property is given")
    return {name: value.strip() or None for name, value in given.items()}


async def describe_present(broker: Broker, command: Command) -> dict[str, str]:
    """Return the values in the file, or the defaults, of the properties that a request changes."""
    stored = await _stored(broker)
    defaults = describe_settings(BrokerSettings(), {})
    return {
        name: stored.get(name, defaults.get(name, "")) for name in sorted(read_changes(command))
    }


async def describe_properties(broker: Broker) -> PropertiesBody:
    """Describe every property that has an effect, by name, with its values."""
    stored = await _stored(broker)
    in_force = describe_settings(broker.settings, broker.given)
    defaults = describe_settings(BrokerSettings(), {})
    described = [
        _describe(name, in_force[name], defaults[name], stored.get(name))
        for name in sorted(_FIELDS)
    ]
    return PropertiesBody(properties=described, has_file=broker.config_file is not None)


async def change_settings(broker: Broker, changes: Changes) -> None:
    """Change properties: in the file, and in the running broker if that needs no restart.

    Raises:
        Refusal: a property is unknown or fixed, or the broker could not start with its value.
        OSError: the disk refused; nothing has changed.
    """
    for name in changes:
        if name not in _FIELDS:
            raise Refusal(ResponseCode.INVALID_PARAMETER, f"no property {name} has an effect here")
        if _effect(name) == "fixed":
            raise Refusal(
                ResponseCode.NO_PERMISSION,
                f"{name} can only be changed in the broker's file, before a start",
            )
    live = {name for name in changes if _effect(name) == "live"}
    if broker.config_file is None and live != changes.keys():
        waiting = ", ".join(sorted(changes.keys() - live))
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"{waiting} takes effect after a restart, and this broker was started without a file",
        )
    async with broker.settings_lock:
        await parse_changed(broker, changes)
        given = _merged(broker.given, {name: changes[name] for name in live})
        settings = _parse(given)
        if broker.config_file is not None:
            await asyncio.to_thread(broker.config_file.change, changes)
        taken = {_FIELDS[name].name: getattr(settings, _FIELDS[name].name) for name in live}
        broker.use_settings(dataclasses.replace(broker.settings, **taken), given)


async def parse_changed(broker: Broker, changes: Changes) -> BrokerSettings:
    """Return the settings of the next start, with changes also of fixed properties.

    Raises:
        Refusal: the broker could not start with them. OSError: its file can't be read.
    """
    return _parse(_merged(await _stored(broker), changes))


def _parse(given: Mapping[str, str]) -> BrokerSettings:
    try:
        return parse_settings(given).settings
    except InvalidSetting as error:
        raise Refusal(ResponseCode.INVALID_PARAMETER, str(error)) from error


def _merged(given: Mapping[str, str], changes: Changes) -> dict[str, str]:
    merged = {**given, **changes}
    return {name: value for name, value in merged.items() if value is not None}


async def _stored(broker: Broker) -> dict[str, str]:
    if broker.config_file is None:
        return dict(broker.given)
    return await asyncio.to_thread(broker.config_file.read)


def _describe(name: str, value: str, default: str, stored: str | None) -> PropertyBody:
    parse: Any = _FIELDS[name].metadata["parse"]
    is_typed = isinstance(parse, _TYPED)
    return PropertyBody(
        name=name,
        type_name=parse.name if is_typed else "text",
        effect=_effect(name),
        value=value,
        default=default,
        stored=stored,
        low=getattr(parse, "low", None) if is_typed else None,
        high=getattr(parse, "high", None) if is_typed else None,
        choices=list(getattr(parse, "choices", ())) if is_typed else [],
    )


def _effect(name: str) -> str:
    return str(_FIELDS[name].metadata["effect"])
