"""Track how long this broker may act as master without an answer of its controller (D9, I2)."""


class EpochLease:
    """The lease of one epoch; it runs from the time of the request."""

    def __init__(self) -> None:
        self._epoch = -1
        self._ends_at_s = self._refused_at_s = 0.0

    def grant(self, epoch: int, *, asked_at_s: float, lease_ms: int) -> None:
        """Record a grant of the controller; the later end is valid.

        A grant for a time at or before a refused request is outdated: it changes nothing.
        """
        if asked_at_s <= self._refused_at_s:
            return
        ends_at_s = asked_at_s + lease_ms / 1000
        if epoch == self._epoch:
            ends_at_s = max(ends_at_s, self._ends_at_s)
        self._epoch, self._ends_at_s = epoch, ends_at_s

    def refuse(self, *, asked_at_s: float) -> None:
        """Record that the controller refused a request; the lease has ended."""
        self._refused_at_s = asked_at_s
        self.drop()

    def drop(self) -> None:
        """Record that the lease has ended."""
        self._ends_at_s = 0.0

    def is_live(self, epoch: int, now_s: float) -> bool:
        """Return whether the lease of an epoch still runs."""
        return epoch == self._epoch and now_s < self._ends_at_s
