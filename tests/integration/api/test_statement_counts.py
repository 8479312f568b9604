"""G10: a page asks Postgres as often for a long list as for a short one."""

from backend.services.controller.group_changes import BrokerGroupName
from tests.integration.api.statements import own_statements
from tests.pages import console_queries, rest_pages

NAMES = {
    "cluster_name": "c",
    "broker_group_name": "broker-0",
    "broker_id": "1",
    "broker_name": "broker-0-1",
    "topic_name": "topic-0",
    "topic": "topic-0",
    "queue_id": "0",
    "consumer_group_name": "consumers",
    "client_id": "127.0.0.1@1",
    "client": "127.0.0.1@1",
    "message_id": "7F00000100002A9F0000000000000000",
    "key": "a-key",
    "user_name": "admin",
}
VARIABLES = {
    "clusterName": "c",
    "brokerGroupName": "broker-0",
    "brokerId": 1,
    "topicName": "topic-0",
    "topic": "topic-0",
    "queueId": 0,
    "consumerGroup": "consumers",
    "consumerGroupName": "consumers",
    "first": 50,
    "groupCount": 50,
}


async def test_a_long_list_costs_as_many_statements_as_a_short_one(
    client, driver, register, plan, database
):
    async def grow(numbers):
        for number in numbers:
            topics = [f"topic-{number}", f"other-{number}"]
            group = f"broker-{number}"
            await register(cluster="c", group=group, topics=topics)
            for broker_id in (1, 2):
                await driver.apply(broker_id, group=group)
            driver.hear(1, 2)
            await driver.elect(1, name=BrokerGroupName(group, "c"))
            operation = await plan("elect_master", broker_group_name=group, broker_id=2)
        return operation["id"]

    async def ask_all(statements, operation_id):
        known = {"operation_id": operation_id, "id": operation_id}
        document = (await client.get("/api/v1/openapi.json")).json()
        costs = {}
        for page in rest_pages(document, NAMES | known) + console_queries(VARIABLES | known):
            before = len(statements)
            if page.query is None:
                answer = await client.get(page.path)
            else:
                answer = await client.post(page.path, json=page.query)
            costs[page.name] = (answer.status_code, len(statements) - before)
        return costs

    first = await grow(range(2))
    with own_statements(database) as statements:
        await ask_all(statements, first)
        short = await ask_all(statements, first)
    await grow(range(2, 14))
    with own_statements(database) as statements:
        long = await ask_all(statements, first)

    assert len(short) > 40
    assert sum(status == 200 for status, _ in short.values()) > 35
    assert sum(count for _, count in short.values()) > 2 * len(short)
    assert {name: long[name] for name in short} == short
