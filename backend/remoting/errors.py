"""Tell the peer's protocol mistakes from our own."""


class RemotingError(Exception):
    """A conversation in the remoting protocol went wrong."""


class RemoteProtocolError(RemotingError):
    """The peer sent what the protocol forbids; its connection must be closed."""


class LocalProtocolError(RemotingError):
    """Our side used a connection wrongly, for instance past its bound of open requests."""
