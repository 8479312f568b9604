"""Serve the requests of tools at the port of a container (control-plane.md 5.11)."""

from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from regent_engine import Command

from backend.java_properties import format_properties_text, parse_properties_text
from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.bodies.containers import BROKERS_FIELD, InnerBrokersBody
from backend.remoting.command import answer
from backend.remoting.headers import (
    AddBrokerHeader,
    InvalidHeader,
    RemoveBrokerHeader,
    decode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.container.container import Container
from workers.broker.container.inner_broker import BrokerKey
from workers.broker.container.settings import CONFIG_PATHS
from workers.broker.errors import Refusal

_BLACK_LIST: Final = frozenset({CONFIG_PATHS, "rocketmqHome", "configBlackList"})

log = structlog.get_logger()


async def serve(container: Container, command: Command) -> bytes:
    """Return the answer to a request; an error of it ends no connection."""
    processor = _PROCESSORS.get(command.code, _refuse)
    try:
        return await processor(container, command)
    except Refusal as error:
        return answer(command, code=error.code, remark=str(error))
    except InvalidHeader as error:
        return answer(command, code=ResponseCode.SYSTEM_ERROR, remark=str(error))


async def _add(container: Container, command: Command) -> bytes:
    await container.add(decode_header(AddBrokerHeader, command.ext).config_path)
    return answer(command)


async def _examine(container: Container, command: Command) -> bytes:
    found = await container.examine(decode_header(AddBrokerHeader, command.ext).config_path)
    return answer(command, body=java_json.encode(found))


async def _remove(container: Container, command: Command) -> bytes:
    header = decode_header(RemoveBrokerHeader, command.ext)
    await container.remove(BrokerKey(header.cluster_name, header.broker_name, header.broker_id))
    return answer(command)


async def _describe(container: Container, command: Command) -> bytes:
    """Return the settings of the container as stock does, and its brokers in a field of ours."""
    listed = container.describe()
    paths = ":".join(one.path for one in listed)
    text = format_properties_text({**container.given, CONFIG_PATHS: paths})
    ext = {
        "version": java_json.encode(DataVersion()).decode(),
        BROKERS_FIELD: java_json.encode(InnerBrokersBody(brokers=listed)).decode(),
    }
    return answer(command, ext=ext, body=text.encode())


async def _change(_container: Container, command: Command) -> bytes:
    """Refuse: every setting of a container is fixed until its next start."""
    try:
        names = parse_properties_text(command.body.decode()).keys()
    except UnicodeDecodeError as error:
        raise Refusal(ResponseCode.SYSTEM_ERROR, "the properties are not UTF-8 text") from error
    if names & _BLACK_LIST:
        raise Refusal(ResponseCode.NO_PERMISSION, "Can not update config in black list.")
    named = ", ".join(sorted(names)) or "it"
    reason = f"{named} can only be changed in the container's file, before a start"
    raise Refusal(ResponseCode.NO_PERMISSION, reason)


async def _refuse(_container: Container, command: Command) -> bytes:
    return answer(
        command,
        code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        remark=f"request type {command.code} not supported",
    )


_PROCESSORS: Final[dict[int, Callable[[Container, Command], Awaitable[bytes]]]] = {
    RequestCode.ADD_BROKER: _add,
    RequestCode.EXAMINE_BROKER_FILE: _examine,
    RequestCode.REMOVE_BROKER: _remove,
    RequestCode.GET_BROKER_CONFIG: _describe,
    RequestCode.UPDATE_BROKER_CONFIG: _change,
}
