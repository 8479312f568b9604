"""Bind the ports of a broker or of a container: the main port, and the fast port two below it."""

import socket
from typing import Final

BACKLOG: Final = 1024
FAST_PORT_DISTANCE: Final = 2


class PortInUse(Exception):
    """The process cannot listen on the address of its settings."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason}")


def bind(address: str, port: int) -> list[socket.socket]:
    """Bind the main and the fast port; port 0 lets the system choose both.

    Raises:
        PortInUse: another process listens already.
    """
    ports = (port, port - FAST_PORT_DISTANCE if port else 0)
    bound: list[socket.socket] = []
    for number in ports:
        try:
            bound.append(bind_one(address, number))
        except PortInUse:
            for one in bound:
                one.close()
            raise
    return bound


def bind_one(address: str, port: int) -> socket.socket:
    """Bind one port.

    Raises:
        PortInUse: another process listens already.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        # Linux lets two processes bind with SO_REUSEADDR; only listening fails.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise PortInUse(address, port, error.strerror or str(error)) from error
    listener.settimeout(0)
    return listener
