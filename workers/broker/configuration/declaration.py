"""Declare settings by their stock properties, and read their values from properties text."""

import ipaddress
import socket
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final

from backend.java_properties import parse_properties_text
from backend.remoting.address import Address
from workers.broker.configuration.property_types import Effect, Whole

NAME_SERVER_PORT: Final = 9876
ALL_ADDRESSES: Final = "0.0.0.0"  # noqa: S104 - stock's own bindAddress


class InvalidSetting(ValueError):
    """A property has a value that the process can't run with."""

    def __init__(self, name: str, value: str, reason: str) -> None:
        super().__init__(f"{name}={value}: {reason}")
        self.name, self.value = name, value


def parse_text(text: str) -> str:
    """Parse any text but the empty one."""
    if not text:
        raise ValueError("must not be empty")
    return text


def parse_ip(text: str) -> str:
    """Parse an address in the form of records and message ids."""
    try:
        ipaddress.ip_address(text)
    except ValueError as error:
        raise ValueError("must be a numeric address") from error
    return text


def parse_port(text: str) -> int:
    """Parse the number of a port; the fast port has the number two below it."""
    port = Whole(0, 65535)(text)
    if port in {1, 2}:
        raise ValueError("must leave room for the fast port, two below it")
    return port


def parse_addresses(text: str) -> tuple[Address, ...]:
    """Parse addresses that semicolons separate; the default port is that of name servers."""
    return tuple(_address(part.strip()) for part in text.split(";") if part.strip())


def _address(text: str) -> Address:
    host, mark, port = text.rpartition(":")
    if not mark:
        return text, NAME_SERVER_PORT
    if not host:
        raise ValueError("must be host:port pairs separated by semicolons")
    return host, Whole(1, 65535)(port)


def local_ip() -> str:
    """Return the address of the name of this machine."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def stock(name: str, parse: Callable[[str], Any], default: Any, effect: Effect = "restart") -> Any:
    """Declare a setting by its stock property; a callable default is evaluated late."""
    metadata = {"property": name, "parse": parse, "effect": effect}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def read_values(kind: type[Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Parse the given properties of a dataclass of settings; return the values by field.

    Raises:
        InvalidSetting: names the property and the error.
    """
    values: dict[str, Any] = {}
    for entry in fields(kind):
        name = entry.metadata["property"]
        if name not in given:
            continue
        try:
            values[entry.name] = entry.metadata["parse"](given[name].strip())
        except ValueError as error:
            raise InvalidSetting(name, given[name], str(error)) from error
    return values


def read_properties(path: Path) -> dict[str, str]:
    """Read the properties of a configuration file.

    Raises:
        InvalidSetting: the file is not UTF-8 text.
        OSError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSetting("configuration file", str(path), "is not UTF-8 text") from error
    return parse_properties_text(text)
