"""Say what can be ordered about the mode of a broker group."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from backend.domain.orders.parameter import BrokerGroupName, ClusterName, Parameter
from backend.rules.group_mode import GroupMode


class WantedMode(StrEnum):
    """Name a mode that a broker group can take: both have a broker that serves for its master."""

    ACTING_MASTER = GroupMode.ACTING_MASTER.value
    CONTROLLER = GroupMode.CONTROLLER.value


@dataclass(frozen=True, slots=True)
class SwitchGroupMode:
    """Switch a broker group to another mode; each of its brokers starts again."""

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    mode: Annotated[WantedMode, Parameter("Mode that the broker group takes.", option="to")]

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name
