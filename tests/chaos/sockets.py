"""Ask the kernel which process a connection comes from (proc(5)).

A search for one line in the table is much cheaper than reading all of it: on a busy machine it has
thousands.
"""

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path

_INODE_FIELD = 9


def find_owner(source: tuple[str, int], target_host: str, pids: Iterable[int]) -> int | None:
    """Find which of some processes opened the connection from an address to a host."""
    line = _find_line(f" {_spelled(source[0])}:{source[1]:04X} {_spelled(target_host)}:")
    if line is None:
        return None
    wanted = f"socket:[{line.split()[_INODE_FIELD]}]"
    return next((pid for pid in pids if wanted in _open_files(pid)), None)


def _find_line(mark: str) -> str | None:
    table = Path("/proc/self/net/tcp").read_text(encoding="ascii")
    at = table.find(mark)
    if at < 0:
        return None
    return table[table.rfind("\n", 0, at) + 1 : table.find("\n", at)]


def _open_files(pid: int) -> set[str]:
    folder, found = Path(f"/proc/{pid}/fd"), set()
    # The process may end, or close a file, meanwhile.
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            with contextlib.suppress(OSError):
                found.add(str(entry.readlink()))
    return found


def _spelled(host: str) -> str:
    return socket.inet_aton(host)[::-1].hex().upper()
