"""Headers of our requests about pending transactions (7018, 7019)."""

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int64


class PendingTransactionsHeader(Header, frozen=True, kw_only=True):
    """The id of the requested transactions; without an id the oldest ones (7018)."""

    transaction_id: str | None = None


class DecideTransactionHeader(Header, frozen=True, kw_only=True):
    """A pending transaction, and whether it is committed or rolled back."""

    first_offset: Int64
    transaction_id: str
    commits: bool = msgspec.field(name="commit")
