"""Show and change the properties of a broker (remoting.md 2.8: 25, 26; our 7010)."""

from collections.abc import Awaitable

from regent_engine import Command

from backend.java_properties import format_properties_text
from backend.remoting import java_json
from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from workers.broker.broker import Broker
from workers.broker.configuration.live_settings import (
    change_settings,
    describe_present,
    describe_properties,
    read_changes,
)
from workers.broker.configuration.settings import describe_settings
from workers.broker.group.required_role import RequiredRole
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves


@serves(RequestCode.GET_BROKER_CONFIG, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_config(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the settings in force as properties text."""
    text = format_properties_text(describe_settings(broker.settings, broker.given))
    version = java_json.encode(broker.topics.data_version).decode()
    return answer(command, ext={"version": version}, body=text.encode())


@serves(RequestCode.GET_BROKER_PROPERTIES, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_get_properties(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return every property with its type, its bounds, its value in force and in the file."""
    return answer(command, body=java_json.encode(await describe_properties(broker)))


def _target(broker: Broker, command: Command) -> FenceTarget:
    return FenceTarget("configuration", lambda: describe_present(broker, command))


@serves(RequestCode.UPDATE_BROKER_CONFIG, role=RequiredRole.ANY, passed_on=False, target=_target)
def on_update_config(broker: Broker, _caller: Caller, command: Command) -> Awaitable[bytes]:
    """Change only the properties that the body names."""
    return _update(broker, command)


async def _update(broker: Broker, command: Command) -> bytes:
    await change_settings(broker, read_changes(command))
    return answer(command)
