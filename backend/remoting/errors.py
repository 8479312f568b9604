"""Distinguish the peer's protocol errors from our own."""


class RemotingError(Exception):
    """A protocol error on a remoting connection."""


class RemoteProtocolError(RemotingError):
    """The peer broke the protocol; its connection must be closed."""


class LocalProtocolError(RemotingError):
    """Our side used a connection wrongly, for example beyond its limit of open requests."""


class RequestTooLarge(LocalProtocolError):
    """The peer would not read a request, and would close the connection."""
