"""Find the broker that a command means: by its name, or by its broker group and an id."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter, validators

from backend.cli.errors import CommandError, ExitCode
from backend.cli.rest import RestClient, segment

NAME_TEXT: Final = "Name of the broker, as broker-a-2, or of its broker group."
ID_TEXT: Final = "Id of the broker, if a broker group is named. Default: the master of the group."

OwnId = Annotated[int | None, Parameter(name="--broker", validator=validators.Number(gte=0))]

_MAY_BE_NAME: Final = re.compile(r".+[-/][0-9]+")


@dataclass(frozen=True, slots=True)
class MeantBroker:
    """Name a broker by its broker group and its own id; 0 is the master of the group."""

    broker_group_name: str
    own_id: int = 0

    @property
    def name(self) -> str:
        """Spell it as its name, which the server reads."""
        return f"{self.broker_group_name}-{self.own_id}"


def find_broker(client: RestClient, cluster: str, text: str, own_id: int | None) -> MeantBroker:
    """Find the broker that is meant: a name is read first, and with an id only a group is meant.

    Raises:
        CommandError: the cluster has neither a broker nor a broker group of that name.
    """
    if own_id is not None or _MAY_BE_NAME.fullmatch(text) is None:
        return MeantBroker(text, own_id or 0)
    try:
        found = client.get(f"{broker_path(cluster, text)}")
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND or not _is_group(client, cluster, text):
            raise
        return MeantBroker(text)
    return MeantBroker(found["broker_group_name"], found["own_id"])


def broker_path(cluster: str, name: str) -> str:
    """Return the path of a broker by its name."""
    return f"/clusters/{segment(cluster)}/brokers/{segment(name)}"


def id_path(cluster: str, broker: MeantBroker) -> str:
    """Return the path of what a broker is asked for."""
    group = f"/clusters/{segment(cluster)}/broker-groups/{segment(broker.broker_group_name)}"
    return f"{group}/brokers/{broker.own_id}"


def _is_group(client: RestClient, cluster: str, text: str) -> bool:
    try:
        client.get(f"/clusters/{segment(cluster)}/broker-groups/{segment(text)}")
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND:
            raise
        return False
    return True
