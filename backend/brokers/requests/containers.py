"""Ask broker containers for their brokers, and have a broker added or removed."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Request
from backend.brokers.change import Change, ChangedValues
from backend.domain.container import BrokerFile, ContainerReport, InnerBroker
from backend.remoting import java_json
from backend.remoting.bodies import KeyValueTable
from backend.remoting.bodies.containers import (
    BROKERS_FIELD,
    BrokerFileBody,
    InnerBrokerBody,
    InnerBrokersBody,
)
from backend.remoting.command import Command
from backend.remoting.headers import AddBrokerHeader, RemoveBrokerHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

PATHS: Final = "brokerConfigPaths"
CHANGE_TIMEOUT_S: Final = 20.0
"""A container answers once the store of the broker is open, or closed."""
CONTAINER_FIGURE: Final = "brokerContainerAddr"


@dataclass(frozen=True, slots=True)
class GetContainerAddress(Request[str]):
    """Ask a broker for the address of its container; empty if it is in none, or of stock."""

    code = RequestCode.GET_BROKER_RUNTIME_INFO

    def read(self, response: Command) -> str:
        table = java_json.decode(response.body, KeyValueTable).table
        return table.get(CONTAINER_FIGURE, "")


@dataclass(frozen=True, slots=True)
class GetContainer(Request[ContainerReport]):
    """Ask a container for its brokers; a container of stock reports only their files."""

    code = RequestCode.GET_BROKER_CONFIG

    def read(self, response: Command) -> ContainerReport:
        lines = response.body.decode("utf-8", "replace").splitlines()
        pairs = (line.partition("=") for line in lines)
        listed = next((value for name, _, value in pairs if name.strip() == PATHS), "")
        paths = tuple(one.strip() for one in listed.split(":") if one.strip())
        if (text := response.ext.get(BROKERS_FIELD)) is None:
            return ContainerReport(paths, None)
        body = java_json.decode(text.encode(), InnerBrokersBody)
        return ContainerReport(paths, tuple(_inner_broker(one) for one in body.brokers))


@dataclass(frozen=True, slots=True)
class ExamineBrokerFile(Request[BrokerFile]):
    """Ask a container of ours which broker a file names; one of stock gives no answer."""

    code = RequestCode.EXAMINE_BROKER_FILE
    header_type = AddBrokerHeader

    config_path: str

    def read(self, response: Command) -> BrokerFile:
        body = java_json.decode(response.body, BrokerFileBody)
        return BrokerFile(
            path=body.path or self.config_path,
            cluster_name=body.cluster_name,
            broker_group_name=body.broker_name,
            broker_id=body.broker_id,
            address=body.address,
            is_controlled=body.is_controlled,
            problems=tuple(body.problems),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBroker(Change):
    """Have a container run the broker of a file."""

    code = RequestCode.ADD_BROKER
    answer_timeout_s = CHANGE_TIMEOUT_S
    header_type = AddBrokerHeader

    config_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveBroker(Change):
    """Have a container stop a broker; a broker that it does not have is no error."""

    code = RequestCode.REMOVE_BROKER
    answer_timeout_s = CHANGE_TIMEOUT_S
    header_type = RemoveBrokerHeader

    cluster_name: str
    broker_name: str
    broker_id: int

    def answer(self, address: str, response: Command) -> ChangedValues | None:
        """Read the answer of the container, as `Change.answer`."""
        if response.code == ResponseCode.BROKER_NOT_EXIST:
            return None
        # The zero-argument form finds no class in a dataclass with slots.
        return Change.answer(self, address, response)


def _inner_broker(body: InnerBrokerBody) -> InnerBroker:
    return InnerBroker(
        path=body.path,
        cluster_name=body.cluster_name,
        broker_group_name=body.broker_name,
        own_id=body.broker_id if body.is_id_known and body.broker_id >= 0 else None,
        id_in_file=body.id_in_file if body.id_in_file >= 0 else None,
        address=body.address,
        is_master=body.is_master,
        failure=body.failure,
    )
