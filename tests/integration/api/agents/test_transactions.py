"""Pending transactions of a living agent, over both doors."""

from tests.integration.api.agents.conftest import CLUSTER, GROUP
from tests.integration.broker.test_transactions import COMMIT, end, send_half

TRANSACTIONS = """query ($chosen: TransactionFilter) {
  transactions(first: 10, chosen: $chosen) {
    nodes { transactionId producerGroupName topic queueId checkCount producerCount brokerGroupName }
    totalCount unknown { brokerGroupName }
  }
}"""


async def test_pending_transactions_are_listed_with_their_producers(broker, get, ask):
    decided = await send_half(broker.client, b"decided", topic="orders")
    for body in (b"a", b"b", b"c"):
        await send_half(broker.client, body, topic="orders", queue_id=2)
    await end(broker.client, decided, COMMIT)

    found = await get("/transactions", cluster_name=CLUSTER)
    first = await get("/transactions", limit=2)
    rest = await get("/transactions", limit=2, after=first["next"])
    none = await get("/transactions", topic="bills")
    graph = (await ask(TRANSACTIONS, chosen={"transactionId": "Kb"}))["transactions"]

    assert [one["transaction_id"] for one in found["items"]] == ["Ka", "Kb", "Kc"]
    one = found["items"][0]
    assert (one["producer_group_name"], one["topic"], one["queue_id"]) == ("pg", "orders", 2)
    assert (one["broker_group_name"], one["body_size"], one["producer_count"]) == (GROUP, 1, 0)
    assert one["age_ms"] >= 0
    listed = [one["transaction_id"] for one in first["items"] + rest["items"]]
    assert (listed, rest["next"], none["items"]) == (["Ka", "Kb", "Kc"], None, [])
    assert graph["nodes"] == [
        {
            "transactionId": "Kb",
            "producerGroupName": "pg",
            "topic": "orders",
            "queueId": 2,
            "checkCount": 0,
            "producerCount": 0,
            "brokerGroupName": GROUP,
        }
    ]
