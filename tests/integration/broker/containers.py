"""Broker containers in the process of a test, or in another one."""

from pathlib import Path

from backend.java_properties import format_properties_text, parse_properties_text
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import write_config
from tests.integration.broker.client import Client
from workers.broker.container.server import ContainerServer


def write_broker(root: Path, name: str, **properties: str) -> Path:
    """Write the file of a broker with its own store."""
    folder = root / name
    folder.mkdir(exist_ok=True)
    return write_config(folder, **{"brokerName": name, "brokerId": "0", **properties})


def write_container(root: Path, *brokers: Path, **properties: str) -> Path:
    path = root / "container.conf"
    given = {
        "bindAddress": "127.0.0.1",
        "brokerContainerIP": "127.0.0.1",
        "listenPort": "0",
        "brokerConfigPaths": ":".join(map(str, brokers)),
    } | properties
    path.write_text("# my container\n" + format_properties_text(given))
    return path


def listed(path: Path) -> list[str]:
    """The brokers that the next start of a container runs."""
    found = parse_properties_text(path.read_text()).get("brokerConfigPaths", "")
    return [Path(one).parent.name for one in found.split(":") if one]


async def described(tool: Client) -> dict[str, dict]:
    """What a container says of its brokers, by the folder of their files."""
    answer = await tool.call(RequestCode.GET_BROKER_CONFIG)
    brokers = java_json.loads(answer.ext["regentBrokers"].encode())["brokers"]
    return {Path(one["path"]).parent.name: one for one in brokers}


async def add(tool: Client, path: Path | str):
    return await tool.call(RequestCode.ADD_BROKER, {"configPath": str(path)})


async def remove(tool: Client, name: str, *, cluster: str = "TestCluster", broker_id: int = 0):
    fields = {"brokerName": name, "brokerClusterName": cluster, "brokerId": broker_id}
    return await tool.call(RequestCode.REMOVE_BROKER, fields)


def inner(server: ContainerServer, name: str):
    """The running broker of a container."""
    found = (one for key, one in server.container._brokers.items() if key.broker_name == name)
    return next(found).server
