"""Say what can be ordered of dead letters."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from backend.domain.orders.consumer_group import ConsumerGroupName
from backend.domain.orders.parameter import ClusterName, Parameter

RESENT_COUNT_MAX: Final = 2_000
CHOSEN_COUNT_MAX: Final = 100


class Destination(StrEnum):
    """Say which topic a dead letter is sent to."""

    RETRY = "retry"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class ResendDeadLetters:
    """Send copies of a consumer group's dead letters: of those chosen, or of all, oldest first."""

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    message_ids: Annotated[
        tuple[str, ...],
        Parameter(
            "Id of a dead letter.",
            absence="all dead letters of the group, the oldest first",
            option="id",
            length_min=1,
            length_max=300,
            count_max=CHOSEN_COUNT_MAX,
        ),
    ] = ()
    destination: Annotated[
        Destination,
        Parameter(
            "retry sends to the group's retry topic, which this group alone reads;"
            " topic sends to the original topic, which all its groups read."
        ),
    ] = Destination.RETRY
    count_max: Annotated[
        int,
        Parameter("Maximum number of dead letters.", option="limit", low=1, high=RESENT_COUNT_MAX),
    ] = 1_000
    messages_per_second: Annotated[
        int,
        Parameter("Maximum number of messages per second.", option="rate", low=1, high=1_000),
    ] = 100
    includes_resent: Annotated[
        bool,
        Parameter("Also send dead letters that were resent before.", option="again"),
    ] = False

    @property
    def target(self) -> str:
        """Name the consumer group."""
        return self.consumer_group_name
