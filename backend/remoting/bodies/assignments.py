"""Bodies of queue assignments by a broker (400, 401)."""

import msgspec

from backend.remoting.bodies.base import Body, MessageQueue
from backend.remoting.integers import Int32


class AssignmentQuestion(Body, frozen=True, kw_only=True):
    """A client of a group, the topic, and the allocation rule (400)."""

    client_id: str = ""
    consumer_group: str = ""
    message_model: str | int = "CLUSTERING"
    strategy_name: str | None = None
    topic: str = ""


class QueueAssignment(Body, frozen=True, kw_only=True):
    """One queue for a client, and how the client receives its messages."""

    message_queue: MessageQueue
    mode: str


class AssignedQueues(Body, frozen=True, kw_only=True, omit_defaults=True):
    """All queues for a client; without a list the client keeps its queues (answer of 400)."""

    queues: list[QueueAssignment] | msgspec.UnsetType = msgspec.field(
        name="messageQueueAssignments", default=msgspec.UNSET
    )


class RequestModeBody(Body, frozen=True, kw_only=True):
    """How a group receives the messages of a topic (401)."""

    consumer_group: str = ""
    mode: str = "PULL"
    pop_share_queue_count: Int32 = msgspec.field(name="popShareQueueNum", default=0)
    topic: str = ""


class RequestModeTable(Body, frozen=True, kw_only=True):
    """The modes of all groups, by topic and group (402)."""

    modes: dict[str, dict[str, RequestModeBody]] = msgspec.field(
        name="messageRequestModeMap", default_factory=dict
    )
