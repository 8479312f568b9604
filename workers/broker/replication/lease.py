"""Know how long this broker may act as master without hearing from its controller (D9, I2)."""


class EpochLease:
    """The lease of one epoch; it counts from when it was asked for."""

    def __init__(self) -> None:
        self._epoch = -1
        self._ends_at_s = 0.0

    def grant(self, epoch: int, *, asked_at_s: float, lease_ms: int) -> None:
        """Note what the controller has granted; the later end counts."""
        ends_at_s = asked_at_s + lease_ms / 1000
        if epoch == self._epoch:
            ends_at_s = max(ends_at_s, self._ends_at_s)
        self._epoch, self._ends_at_s = epoch, ends_at_s

    def drop(self) -> None:
        """Note that it is over."""
        self._ends_at_s = 0.0

    def is_live(self, epoch: int, now_s: float) -> bool:
        """Return whether the lease of an epoch still runs."""
        return epoch == self._epoch and now_s < self._ends_at_s
