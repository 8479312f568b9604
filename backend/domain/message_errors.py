"""Say what of a search for messages was refused, and what it did not find."""

# ruff: noqa: N818 - an error is called what went wrong, as in the conventions.

from backend.domain.errors import DomainError, ErrorKind


class MessageNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No broker that was asked holds the message."""

    code = "message_not_found"

    def __init__(self, message_id: str, why: str) -> None:
        super().__init__(f"no message {message_id!r}: {why}")
        self.message_id = message_id


class InvalidMessageSearch(DomainError, kind=ErrorKind.INVALID):
    """Messages can't be looked for in this way."""

    code = "invalid_message_search"

    def __init__(self, reason: str) -> None:
        super().__init__(f"messages can't be searched this way: {reason}")


class ClientNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No broker of the cluster that answered has a client of that id connected."""

    code = "client_not_found"

    def __init__(self, cluster_name: str, client_id: str) -> None:
        super().__init__(f"no client {client_id!r} is connected in cluster {cluster_name!r}")
        self.cluster_name, self.client_id = cluster_name, client_id
