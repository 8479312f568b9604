"""The commands `regent transaction …`: pending transactions, and decisions about them."""

from typing import Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit
from backend.cli.output import age_text
from backend.cli.paging import show_asked_list
from backend.cli.target import Options

PAGE_SIZE: Final = 500

transaction = App(
    name=["transaction", "transactions"],
    help="Show pending transactions of producers, and decide them.",
)


@transaction.command(name="list")
def list_transactions(
    *,
    topic: str | None = None,
    producer_group: str | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the transactions that their producers have neither committed nor rolled back.

    A broker asks a connected producer of the group every 30 seconds. After 15 questions without a
    decision the message goes to the topic TRANS_CHECK_MAX_TIME_TOPIC. RocketMQ brokers do not
    report their transactions; the command names these brokers below the table.

    Examples:
        regent transaction list
        regent transaction list --producer-group payments
        regent transaction list --topic orders -o json

    Args:
        topic: Only transactions of this topic.
        producer_group: Only transactions of this producer group.
        broker_group: Only transactions of this broker group.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        "/transactions",
        {
            "CLUSTER": "cluster_name",
            "TRANSACTION": "transaction_id",
            "PRODUCER GROUP": "producer_group_name",
            "TOPIC": "topic",
            "QUEUE#": "queue_id",
            "BROKER": "broker_group_name",
            "AGE#": ("age_ms", age_text),
            "CHECKS#": "check_count",
            "PRODUCERS#": "producer_count",
        },
        name="transactions",
        limit=limit,
        page_size=PAGE_SIZE,
        cluster_name=cluster,
        topic=topic,
        producer_group_name=producer_group,
        broker_group_name=broker_group,
    )


transaction.command("backend.cli.transaction_orders:commit_transaction", name="commit")
transaction.command("backend.cli.transaction_orders:roll_back_transaction", name="roll-back")
