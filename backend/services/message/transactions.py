"""Ask masters for their pending transactions: only they and the log have these (D21)."""

from backend.brokers.asking import Brokers
from backend.brokers.requests.transactions import GetPendingTransactions
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.page import check_page_size
from backend.domain.transaction import (
    HeldTransactions,
    PendingTransaction,
    TransactionFilter,
)
from backend.services.cluster.reported_lists import Reported, ReportedPage, collect

TransactionKey = tuple[str, str, int, str]


async def list_transactions(
    chosen: TransactionFilter,
    *,
    size: int,
    after: TransactionKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ReportedPage[PendingTransaction]:
    """List the pending transactions that fulfil the conditions, the oldest of a broker first.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    found = await collect_transactions(chosen, database=database, brokers=brokers, clock=clock)
    return found.page(size=size, after=after)


async def collect_transactions(
    chosen: TransactionFilter, *, database: Database, brokers: Brokers, clock: Clock
) -> Reported[PendingTransaction]:
    """Ask all masters that may have such transactions, many at once.

    Raises:
        InvalidName: the name of the cluster is invalid.
    """
    return await collect(
        chosen,
        GetPendingTransactions(chosen.transaction_id),
        items_of=lambda broker, listed: [
            PendingTransaction(broker, held) for held in listed.transactions
        ],
        why_incomplete=_why_incomplete,
        database=database,
        brokers=brokers,
        clock=clock,
    )


def _why_incomplete(listed: HeldTransactions) -> str | None:
    count = len(listed.transactions)
    if count == listed.total_count:
        return None
    return f"it lists the oldest {count} of its {listed.total_count} pending transactions"
