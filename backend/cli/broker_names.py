"""Find the named broker: by its name, or by its broker group and an id."""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Self

from cyclopts import CoercionError, Parameter, validators

from backend.cli.clusters import cluster_path
from backend.cli.errors import CommandError, ExitCode
from backend.cli.rest import RestClient
from backend.domain.broker_name import BrokerName
from backend.domain.errors import InvalidName

NAME_TEXT: Final = "Name of the broker, as broker-a-2, or of its broker group."
ID_TEXT: Final = "Id of the broker, if a broker group is named. Default: the master of the group."
MASTER_ID: Final = 0
"""This id selects the present master of a group."""

OwnId = Annotated[int | None, Parameter(name="--broker", validator=validators.Number(gte=0))]


class BrokerId(int):
    """The id of a broker of a named group, typed as a number or as the name of the broker."""

    name: BrokerName | None

    def __new__(cls, text: str) -> Self:
        """Read the text.

        Raises:
            CoercionError: the text is neither an id nor the name of a broker.
        """
        try:
            name = None if text.isdecimal() else BrokerName.parse(text)
        except InvalidName as error:
            raise CoercionError(msg=str(error)) from error
        made = super().__new__(cls, text if name is None else name.own_id)
        made.name = name
        return made


def check_group(broker_group_name: str, ids: Iterable[Any]) -> None:
    """Check that brokers given by name are of the named broker group.

    Raises:
        CommandError: a broker is of another group.
    """
    for one in ids:
        name = one.name if isinstance(one, BrokerId) else None
        if name is not None and name.broker_group_name != broker_group_name:
            raise CommandError(
                f"{name} is no broker of the group {broker_group_name}",
                next_step=f"regent replica get {broker_group_name}",
                exit_code=ExitCode.USAGE,
            )


def find_broker(client: RestClient, cluster: str, text: str, own_id: int | None) -> BrokerName:
    """Find the named broker; with an id, the name is that of a broker group.

    Raises:
        CommandError: the cluster has neither a broker nor a broker group of that name.
    """
    if own_id is not None:
        return BrokerName(text, own_id)
    try:
        BrokerName.parse(text)
    except InvalidName:
        return BrokerName(text, MASTER_ID)
    try:
        found = client.get(cluster_path(client, cluster, "brokers", text))
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND or not _is_group(client, cluster, text):
            raise
        return BrokerName(text, MASTER_ID)
    return BrokerName(found["broker_group_name"], found["own_id"])


def asked_path(client: RestClient, cluster: str, broker: BrokerName, what: str) -> str:
    """Return the path of a question to a broker."""
    place = ("broker-groups", broker.broker_group_name, "brokers", str(broker.own_id))
    return cluster_path(client, cluster, *place, what)


def _is_group(client: RestClient, cluster: str, text: str) -> bool:
    try:
        client.get(cluster_path(client, cluster, "broker-groups", text))
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND:
            raise
        return False
    return True
