"""Ask masters for their pending transactions: only they and the log have these (D21)."""

from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.transactions import GetPendingTransactions
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.transaction import (
    HeldTransactions,
    PendingTransaction,
    TransactionFilter,
)
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers

TransactionKey = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class TransactionTable:
    """Hold the pending transactions that were found, and the masters that did not list all."""

    transactions: tuple[PendingTransaction, ...]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class TransactionPage:
    """Hold one page of pending transactions, and the masters that did not list all."""

    page: Page[PendingTransaction, TransactionKey]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_transactions(
    chosen: TransactionFilter,
    *,
    size: int,
    after: TransactionKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> TransactionPage:
    """List the pending transactions that fulfil the conditions, the oldest of a broker first.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    table = await collect_transactions(chosen, database=database, brokers=brokers, clock=clock)
    rest = [one for one in table.transactions if after is None or one.key > after]
    page = cut_page(
        rest[: size + 1], size=size, key=lambda one: one.key, total_count=len(table.transactions)
    )
    return TransactionPage(page, table.unknown, table.observed_at)


async def collect_transactions(
    chosen: TransactionFilter, *, database: Database, brokers: Brokers, clock: Clock
) -> TransactionTable:
    """Ask all masters that may have such transactions, many at once.

    Raises:
        InvalidName: the name of the cluster is invalid.
    """
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [key_of(broker) for broker in online if _may_have(broker, chosen)]
    answers = await brokers.ask_all(asked, GetPendingTransactions(chosen.transaction_id))
    found = [
        PendingTransaction(one, held)
        for one, listed in answers.answers.items()
        for held in listed.transactions
    ]
    return TransactionTable(
        tuple(sorted(filter(chosen.takes, found), key=lambda one: one.key)),
        unknown_brokers(asked, answers, _why_incomplete),
        clock.now(),
    )


def _may_have(broker: Broker, chosen: TransactionFilter) -> bool:
    return (
        broker.is_master
        and chosen.cluster_name in (None, broker.cluster_name)
        and chosen.broker_group_name in (None, broker.broker_group_name)
        and chosen.within.includes(broker.cluster_name)
    )


def _why_incomplete(listed: HeldTransactions) -> str | None:
    count = len(listed.transactions)
    if count == listed.total_count:
        return None
    return f"it lists the oldest {count} of its {listed.total_count} pending transactions"
