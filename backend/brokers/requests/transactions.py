"""Ask agents for pending transactions, and have them decide one."""

from dataclasses import dataclass

import msgspec

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.domain.transaction import HeldTransaction, HeldTransactions
from backend.remoting import java_json
from backend.remoting.bodies.transactions import PendingTransactionBody, PendingTransactionsBody
from backend.remoting.command import Command
from backend.remoting.headers.transactions import (
    DecideTransactionHeader,
    PendingTransactionsHeader,
)
from backend.remoting.request_code import RequestCode


@dataclass(frozen=True, slots=True)
class GetPendingTransactions(Request[HeldTransactions]):
    """Ask a master for its oldest pending transactions, or for those with an id."""

    code = RequestCode.GET_PENDING_TRANSACTIONS
    header_type = PendingTransactionsHeader

    transaction_id: str | None = None

    def read(self, response: Command) -> HeldTransactions:
        body = java_json.decode(response.body, PendingTransactionsBody)
        return HeldTransactions(tuple(_held(one) for one in body.transactions), body.total_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideTransaction(Change):
    """Have a master commit or roll back a pending transaction."""

    code = RequestCode.DECIDE_TRANSACTION
    header_type = DecideTransactionHeader

    first_offset: int
    transaction_id: str
    commits: bool


def _held(body: PendingTransactionBody) -> HeldTransaction:
    fields = msgspec.structs.asdict(body)
    return HeldTransaction(producer_group_name=fields.pop("producer_group"), **fields)
