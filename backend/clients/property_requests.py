"""Ask brokers what they are set to, and have them set otherwise (25, 26; our 7010)."""

import re
from collections.abc import Mapping
from typing import Final

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.broker_changes import Fence, Told, read_told
from backend.clients.remoting_client import RemotingClient
from backend.domain.broker_property import (
    BrokerProperty,
    PropertyEffect,
    PropertyType,
    guess_type,
)
from backend.remoting import java_json
from backend.remoting.bodies.properties import PropertiesBody, PropertyBody
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

# What a stock broker must not be told by a request (D26): who it is, whom it trusts, where it keeps
# its files and how large they are.
_FIXED: Final = re.compile(
    r".*(Path|Home|Dir|Addr|IP1|IP2|Port|Class|Command|BlackList).*|brokerId|brokerName"
    r"|brokerClusterName|brokerRole|listenPort|mappedFileSize.*"
)
# Whoever reads a configuration needs no secret for it. Of stock's own `initAuthenticationUser` and
# `innerClientAuthenticationCredentials` hold one as JSON.
_SECRET: Final = re.compile(r"(?i)password|secret|credential|accesskey|initAuthenticationUser")


class PropertyRequests:
    """Speak to brokers of their properties."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def properties(self, address: str) -> list[BrokerProperty]:
        """Ask a broker for its properties, by name; a stock broker tells their values only.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_PROPERTIES)
        if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return await self._stock_properties(address)
        try:
            told = java_json.decode(accepted(address, response).body, PropertiesBody)
            return [_property(one) for one in told.properties]
        except (InvalidJson, ValueError) as error:
            raise BrokerRefused(address, f"its answer can't be read: {error}") from error

    async def change_properties(
        self, address: str, changes: Mapping[str, str], fence: Fence
    ) -> Told | None:
        """Have a broker set properties (25); an agent tells the values around it.

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has changed the settings already.
        """
        body = "".join(f"{name}={_escaped(value)}\n" for name, value in changes.items())
        code = RequestCode.UPDATE_BROKER_CONFIG
        response = await self._client.request(address, code, ext=fence, body=body.encode())
        return read_told(address, response, fence)

    async def _stock_properties(self, address: str) -> list[BrokerProperty]:
        response = await self._client.request(address, RequestCode.GET_BROKER_CONFIG)
        try:
            text = accepted(address, response).body.decode()
        except UnicodeDecodeError as error:
            raise BrokerRefused(address, "its configuration is not UTF-8 text") from error
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
        return sorted(
            (_stock_property(name.strip(), value.strip()) for name, _, value in pairs),
            key=lambda one: one.name,
        )


def _property(told: PropertyBody) -> BrokerProperty:
    return BrokerProperty(
        name=told.name,
        type=PropertyType(told.type_name),
        effect=PropertyEffect(told.effect),
        value=told.value,
        stored=told.stored,
        default=told.default,
        low=told.low,
        high=told.high,
        choices=tuple(told.choices),
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
