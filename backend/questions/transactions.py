"""Ask which transactions are pending."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain import transaction
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    InBrokerGroup,
    InCluster,
    Limit,
    OfTopic,
    question,
)
from backend.services.message.transactions import TransactionKey, list_transactions
from backend.views.graph_forms import in_graph
from backend.views.transactions import TransactionsOut

OfProducerGroup = Annotated[
    str | None, Given("Only of this producer group.", length_max=NAME_LENGTH_MAX)
]
OfTransaction = Annotated[
    str | None, Given("Only the transaction with this id.", length_max=NAME_LENGTH_MAX)
]


@in_graph("TransactionFilter")
@dataclass(frozen=True, slots=True)
class TransactionChoice:
    """Choose pending transactions. A transaction must fulfil each condition that is given."""

    cluster_name: InCluster = None
    broker_group_name: InBrokerGroup = None
    topic: OfTopic = None
    producer_group_name: OfProducerGroup = None
    transaction_id: OfTransaction = None


Chosen = Annotated[TransactionChoice, Given(is_optional_in_graph=True)]


@question("/transactions", field="transactions", tag="messages", reach=Reach.KEPT)
async def show_transactions(
    limit: Limit = 100,
    after: After[TransactionKey] = None,
    chosen: Chosen = TransactionChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> TransactionsOut:
    """List the pending transactions, as masters report them now."""
    found = await list_transactions(
        transaction.TransactionFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return TransactionsOut.of(found)
