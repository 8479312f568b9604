"""Define the errors of searching and sending messages."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import DomainError, ErrorKind


class MessageNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """None of the asked brokers has the message."""

    code = "message_not_found"

    def __init__(self, message_id: str, why: str) -> None:
        super().__init__(f"no message {message_id!r}: {why}")
        self.message_id = message_id


class InvalidMessageSearch(DomainError, kind=ErrorKind.INVALID):
    """The conditions of a search for messages are invalid."""

    code = "invalid_message_search"

    def __init__(self, reason: str) -> None:
        super().__init__(f"messages can't be searched this way: {reason}")


class ClientNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No broker that answered is connected to a client of this id."""

    code = "client_not_found"

    def __init__(self, cluster_name: str, client_id: str) -> None:
        super().__init__(f"no client {client_id!r} is connected in cluster {cluster_name!r}")
        self.cluster_name, self.client_id = cluster_name, client_id


class InvalidMessage(DomainError, kind=ErrorKind.INVALID):
    """A message can't be sent; `parameter` is the invalid parameter of the order."""

    code = "invalid_message"

    def __init__(self, parameter: str, why: str) -> None:
        super().__init__(f"the message can't be sent; {parameter}: {why}")
        self.parameter = parameter

    @property
    def facts(self) -> dict[str, Any]:
        """Return the parameter."""
        return {"parameter": self.parameter}


class NoQueueForMessage(DomainError, kind=ErrorKind.CONFLICT):
    """No chosen broker group takes messages of the topic; nothing was sent."""

    code = "no_queue_for_message"

    def __init__(
        self, topic_name: str, refusals: Mapping[str, str], broker_group_name: str | None
    ) -> None:
        reasons = "; ".join(f"{name}: {why}" for name, why in sorted(refusals.items()))
        if not reasons:
            reasons = f"{broker_group_name or 'no broker group'} holds no queue of it"
        super().__init__(
            f"no broker group takes a message of topic {topic_name!r} ({reasons}): see the topic's"
            " queues and the health of the brokers"
        )
        self.topic_name, self.refusals = topic_name, dict(refusals)


class MessageRefused(DomainError, kind=ErrorKind.CONFLICT):
    """A broker has refused a message, and has not stored it."""

    code = "message_refused"

    def __init__(self, broker_group_name: str, stock_code: int, remark: str) -> None:
        super().__init__(
            f"{broker_group_name} has refused the message and not stored it: {remark}"
            f" (code {stock_code})"
        )
        self.stock_code = stock_code

    @property
    def facts(self) -> dict[str, Any]:
        """Return stock's response code."""
        return {"stock_code": self.stock_code}


class SendUnanswered(DomainError, kind=ErrorKind.UNAVAILABLE):
    """It is unknown whether a message is stored, since the broker has not answered."""

    code = "send_unanswered"

    def __init__(self, topic_name: str, unique_key: str, broker_group_name: str, why: str) -> None:
        super().__init__(
            f"{broker_group_name} has not said whether it stored the message ({why}): it may be"
            f" stored. Look for its unique id {unique_key} in topic {topic_name!r} before you"
            " send it again"
        )
        self.topic_name, self.unique_key = topic_name, unique_key

    @property
    def facts(self) -> dict[str, Any]:
        """Return the values with which the message can be found."""
        return {"topic_name": self.topic_name, "unique_key": self.unique_key}
