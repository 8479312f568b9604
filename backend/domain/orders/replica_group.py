"""Say what can be ordered of broker groups under a controller."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from backend.domain.adoption import AdoptionOrder
from backend.domain.election import Ballot
from backend.domain.orders.parameter import (
    INT_MAX,
    LONG_MAX,
    BrokerGroupName,
    BrokerIdParameter,
    ClusterName,
    Parameter,
)


class Mode(StrEnum):
    """Say whether a living master is asked to hand over before it is replaced."""

    GRACEFUL = "graceful"
    NOW = "now"


def _broker_id(meaning: str, *, absence: str, option: str = "broker") -> Parameter:
    return BrokerIdParameter(meaning, absence=absence, option=option, low=1, high=LONG_MAX)


def _broker_ids(meaning: str, *, absence: str | None = None) -> Parameter:
    return BrokerIdParameter(
        meaning, absence=absence, option="broker", low=1, high=LONG_MAX, count_max=100
    )


@dataclass(frozen=True, slots=True)
class ElectMaster:
    """Elect the named broker as master or, without a name, the broker that the rules choose.

    With `accepts_loss`, it may lack acknowledged messages: the plan states the loss.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    broker_id: Annotated[
        int | None,
        _broker_id(
            "Id of the broker that becomes master.", absence="the broker that the rules choose"
        ),
    ] = None
    mode: Annotated[Mode, Parameter("Whether the current master is asked to hand over first.")] = (
        Mode.GRACEFUL
    )
    accepts_loss: Annotated[
        bool, Parameter("Allow the election of a replica that lacks confirmed messages.")
    ] = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name

    @property
    def ballot(self) -> Ballot:
        """Ask as an operator does."""
        return Ballot(
            self.broker_id,
            is_designated=self.broker_id is not None,
            accepts_loss=self.accepts_loss,
        )


@dataclass(frozen=True, slots=True)
class PreferMaster:
    """Prefer a replica as master at the next election; without an id, remove the preference."""

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    broker_id: Annotated[int | None, _broker_id("Id of the replica to prefer.", absence="none")] = (
        None
    )

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name


@dataclass(frozen=True, slots=True)
class ForgetReplicas:
    """Forget dead replicas by id; without ids the whole group, with its living ones if wanted."""

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    broker_ids: Annotated[
        tuple[int, ...], _broker_ids("Id of a replica to forget.", absence="the whole group")
    ] = ()
    includes_living: Annotated[
        bool,
        Parameter(
            "Forget the whole group even if some of its replicas are alive.", option="living"
        ),
    ] = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name


@dataclass(frozen=True, slots=True)
class AdoptReplicas:
    """Adopt brokers under the ids they claim; without a choice of the master, facts decide.

    `least_epoch` stands for epochs that no broker reports.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    broker_ids: Annotated[tuple[int, ...], _broker_ids("Id of a broker to adopt.")]
    master_id: Annotated[
        int | None,
        _broker_id(
            "Id of the broker that becomes master.",
            absence="the broker that the facts choose",
            option="master",
        ),
    ] = None
    least_epoch: Annotated[
        int | None,
        Parameter(
            "Newest epoch in the logs of brokers that report no epoch.",
            absence="as reported",
            low=0,
            high=INT_MAX,
        ),
    ] = None
    accepts_loss: Annotated[
        bool, Parameter("Adopt the brokers even if acknowledged messages may be lost.")
    ] = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.broker_group_name

    @property
    def order(self) -> AdoptionOrder:
        """Spell it as the domain decides it."""
        return AdoptionOrder(
            frozenset(self.broker_ids), self.master_id, self.least_epoch, self.accepts_loss
        )
