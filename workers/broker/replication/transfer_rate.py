"""Measure the transfer rate of a replication connection: the bytes of its last full second."""

from typing import Final

WINDOW_S: Final = 1.0


class TransferRate:
    """The rate of one connection; times are seconds of any clock."""

    def __init__(self, now_s: float) -> None:
        self._began_at_s, self._byte_count, self._rate = now_s, 0, 0

    def add(self, byte_count: int, now_s: float) -> None:
        """Count bytes that passed now."""
        self._roll(now_s)
        self._byte_count += byte_count

    def per_second(self, now_s: float) -> int:
        """Return the rate of the last full second; 0 when nothing passed in it."""
        self._roll(now_s)
        return self._rate

    def _roll(self, now_s: float) -> None:
        elapsed_s = now_s - self._began_at_s
        if elapsed_s >= WINDOW_S:
            self._rate = round(self._byte_count / elapsed_s)
            self._began_at_s, self._byte_count = now_s, 0
