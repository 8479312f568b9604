"""Say what can be ordered of a broker container, a process that runs several brokers."""

from dataclasses import dataclass
from typing import Annotated, Final

from backend.domain.broker_name import BrokerName
from backend.domain.orders.broker import BrokerOrder, target_of
from backend.domain.orders.parameter import LONG_MAX, BrokerIdParameter, ClusterName, Parameter

ADDRESS_LENGTH_MAX: Final = 300
PATH_LENGTH_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class AddBroker:
    """Have a container run the broker of a file, now and after each start."""

    cluster_name: ClusterName
    container_address: Annotated[
        str,
        Parameter(
            "Address of the container, as host:port.",
            option="container",
            length_min=1,
            length_max=ADDRESS_LENGTH_MAX,
        ),
    ]
    config_path: Annotated[
        str,
        Parameter(
            "Path of the broker's file, on the machine of the container.",
            option="file",
            length_min=1,
            length_max=PATH_LENGTH_MAX,
        ),
    ]
    broker_group_name: Annotated[
        str, Parameter("Broker group that the file names.", option="broker_group")
    ]
    broker_id: Annotated[
        int,
        BrokerIdParameter(
            "Id of the broker in its file. 0 is a master, and every broker under a controller.",
            option="broker",
            low=0,
            high=LONG_MAX,
        ),
    ] = 0

    @property
    def target(self) -> str:
        """Name the broker by its file."""
        return str(BrokerName(self.broker_group_name, self.broker_id))


@dataclass(frozen=True, slots=True)
class RemoveBroker(BrokerOrder):
    """Have a container stop a broker, and run it no more; its store and its file stay.

    The file names a broker that has not joined its group yet: the id of such a broker is unknown.
    """

    container_address: Annotated[
        str | None,
        Parameter(
            "Address of the container, as host:port.",
            absence="the container that the broker reports",
            option="container",
            length_min=1,
            length_max=ADDRESS_LENGTH_MAX,
        ),
    ] = None
    config_path: Annotated[
        str | None,
        Parameter(
            "Path of the broker's file, as its container lists it, in place of the broker's id.",
            option="file",
            length_min=1,
            length_max=PATH_LENGTH_MAX,
        ),
    ] = None
    interrupts_group: Annotated[
        bool,
        Parameter(
            "Remove the broker even if it leads its group, acts as its master, or is its last"
            " replica in sync."
        ),
    ] = False

    @property
    def target(self) -> str:
        """Name the broker, or its address or its file where that was given."""
        if self.names_file_only:
            return f"{self.broker_group_name} of {self.config_path}"
        return target_of(self)

    @property
    def names_file_only(self) -> bool:
        """Return whether only its file names the broker."""
        return self.config_path is not None and self.address is None and not self.broker_id
