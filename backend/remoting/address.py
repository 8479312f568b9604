"""Parse the addresses of peers, brokers and controllers."""

from typing import Final

Address = tuple[str, int]

PORT_MAX: Final = 65_535
PORT_DIGITS_MAX: Final = 5


def split_address(address: str) -> Address:
    """Take `host:port` apart.

    Raises:
        ConnectionError: the text is no valid address.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    is_port = port.isdecimal() and len(port) <= PORT_DIGITS_MAX and int(port) <= PORT_MAX
    if not (is_port and _is_host(host)):
        raise ConnectionError(f"the address {address!r} is not host:port")
    return host, int(port)


def _is_host(text: str) -> bool:
    """Return whether a name can be looked up; a lookup of any other name raises no `OSError`."""
    try:
        return bool(text.encode("idna")) and "\0" not in text
    except UnicodeError:
        return False
