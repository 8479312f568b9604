"""Say what can be ordered of messages."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from backend.domain.orders.parameter import INT_MAX, ClusterName, Parameter
from backend.domain.orders.topic import TopicName

KEY_LENGTH_MAX: Final = 300
KEY_COUNT_MAX: Final = 32
PROPERTY_COUNT_MAX: Final = 100


class BodyEncoding(StrEnum):
    """Say how the body of a message is written in an order."""

    TEXT = "text"
    BASE64 = "base64"


@dataclass(frozen=True, slots=True)
class MessageProperty:
    """Name a property of a message, and its value."""

    name: Annotated[str, Parameter("Name of the property.", length_min=1, length_max=300)]
    value: Annotated[str, Parameter("Value of the property.", length_min=1, length_max=10_000)]


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Send one message to a topic; the broker group and the queue are chosen unless given."""

    cluster_name: ClusterName
    topic_name: TopicName
    body: Annotated[str, Parameter("Body of the message.", length_min=1)]
    body_encoding: Annotated[
        BodyEncoding,
        Parameter("How the body is given: as text, which is sent in UTF-8, or in base64."),
    ] = BodyEncoding.TEXT
    keys: Annotated[
        tuple[str, ...],
        Parameter(
            "Key by which the message can be found.",
            option="key",
            length_min=1,
            length_max=KEY_LENGTH_MAX,
            count_max=KEY_COUNT_MAX,
        ),
    ] = ()
    tag: Annotated[
        str | None,
        Parameter("Tag by which consumers filter.", length_min=1, length_max=300),
    ] = None
    properties: Annotated[
        tuple[MessageProperty, ...],
        Parameter("Properties of the message.", count_max=PROPERTY_COUNT_MAX),
    ] = ()
    delay_level: Annotated[
        int | None,
        Parameter(
            "Delay level of the broker (`messageDelayLevel`). Level 1 is the shortest delay.",
            low=1,
            high=INT_MAX,
        ),
    ] = None
    broker_group_name: Annotated[
        str | None,
        Parameter(
            "Broker group that stores the message.",
            absence="one of those that take messages",
            option="broker_group",
        ),
    ] = None
    queue_id: Annotated[
        int | None,
        Parameter(
            "Number of the queue that stores the message.",
            absence="one of the topic's queues",
            option="queue",
            low=0,
            high=INT_MAX,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name
