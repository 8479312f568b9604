"""Ask brokers for their properties, and set properties."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.brokers.change import Change
from backend.brokers.errors import UnexpectedAnswer
from backend.domain.broker_property import (
    BrokerProperty,
    PropertyEffect,
    PropertyType,
    guess_type,
)
from backend.remoting import java_json
from backend.remoting.bodies.properties import PropertiesBody, PropertyBody
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

PERMISSION: Final = "brokerPermission"
NAME_SERVERS: Final = "namesrvAddr"

# A request must not set these properties of a stock broker (D26): its identity, its trusted peers,
# its paths and its file sizes.
_FIXED: Final = re.compile(
    r".*(Path|Home|Dir|Addr|IP1|IP2|Port|Class|Command|BlackList).*|brokerId|brokerName"
    r"|brokerClusterName|brokerRole|listenPort|mappedFileSize.*"
)
# A reader of the configuration needs no secrets. Stock's `initAuthenticationUser` and
# `innerClientAuthenticationCredentials` hold one as JSON.
_SECRET: Final = re.compile(r"(?i)password|secret|credential|accesskey|initAuthenticationUser")


@dataclass(frozen=True, slots=True)
class _GetAgentProperties(Request[list[BrokerProperty] | None]):
    code = RequestCode.GET_BROKER_PROPERTIES
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

    def read(self, response: Command) -> list[BrokerProperty]:
        body = java_json.decode(response.body, PropertiesBody)
        return [_property(one) for one in body.properties]


@dataclass(frozen=True, slots=True)
class _GetStockProperties(Request[list[BrokerProperty]]):
    code = RequestCode.GET_BROKER_CONFIG

    def read(self, response: Command) -> list[BrokerProperty]:
        try:
            text = response.body.decode()
        except UnicodeDecodeError as error:
            raise UnexpectedAnswer("its configuration is not UTF-8 text") from error
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
        return sorted(
            (_stock_property(name.strip(), value.strip()) for name, _, value in pairs),
            key=lambda one: one.name,
        )


@dataclass(frozen=True, slots=True)
class GetProperties(Inquiry[list[BrokerProperty]]):
    """Ask a broker for its properties, by name; a stock broker reports only values."""

    async def put(self, brokers: Brokers, address: str) -> list[BrokerProperty]:
        answer = await brokers.ask(address, _GetAgentProperties())
        return await brokers.ask(address, _GetStockProperties()) if answer is None else answer


@dataclass(frozen=True, slots=True)
class IsStock(Request[bool]):
    """Ask whether a broker is of RocketMQ: such a broker does not know the request."""

    code = RequestCode.GET_BROKER_PROPERTIES
    also_read = frozenset({ResponseCode.REQUEST_CODE_NOT_SUPPORTED})

    def read(self, response: Command) -> bool:
        return response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


@dataclass(frozen=True, slots=True)
class GetPermission(Request[int]):
    """Ask a broker for its permission: 4 is read, 2 is write, 6 is both."""

    code = RequestCode.GET_BROKER_CONFIG

    def read(self, response: Command) -> int:
        value = _value_of(PERMISSION, response)
        if value is not None and value.isdecimal():
            return int(value)
        raise UnexpectedAnswer(f"its configuration names no {PERMISSION}")


@dataclass(frozen=True, slots=True)
class GetNameServers(Request[list[str]]):
    """Ask a broker for the addresses of the name servers where it registers."""

    code = RequestCode.GET_BROKER_CONFIG

    def read(self, response: Command) -> list[str]:
        value = _value_of(NAME_SERVERS, response) or ""
        return [address for one in value.split(";") if (address := one.strip())]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateBrokerConfig(Change):
    """Set properties of a broker."""

    code = RequestCode.UPDATE_BROKER_CONFIG

    changes: Mapping[str, str]

    @property
    def body(self) -> bytes:
        lines = (f"{name}={_escaped(value)}\n" for name, value in self.changes.items())
        return "".join(lines).encode()


def _value_of(name: str, response: Command) -> str | None:
    """Return the value of a property in the text of a configuration, None if it is not there."""
    for line in response.body.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == name:
            return value.strip()
    return None


def _property(reported: PropertyBody) -> BrokerProperty:
    return BrokerProperty(
        name=reported.name,
        type=PropertyType(reported.type_name),
        effect=PropertyEffect(reported.effect),
        value=reported.value,
        stored=reported.stored,
        default=reported.default,
        low=reported.low,
        high=reported.high,
        choices=tuple(reported.choices),
    )


def _stock_property(name: str, value: str) -> BrokerProperty:
    is_secret = any(_SECRET.search(text) for text in (name, value))
    is_fixed = is_secret or _FIXED.fullmatch(name) is not None
    return BrokerProperty(
        name=name,
        type=guess_type(value),
        effect=PropertyEffect.FIXED if is_fixed else PropertyEffect.UNKNOWN,
        value="(not shown)" if is_secret and value else value,
    )


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
