"""A consumer group's own topics stay, or are deleted with it (G1, G14)."""

from backend.domain.operation import OperationState as S
from backend.remoting.bodies import TopicConfig
from tests.integration.operations.test_broker_kinds import consumed
from tests.waiting import eventually

RETRIES, LETTERS = "%RETRY%billing", "%DLQ%billing"


async def leave(agents):
    """Retries on both brokers, of which broker-b knows no such group, and letters on broker-a."""
    await consumed(agents)
    for topic, names in ((RETRIES, ("broker-a", "broker-b")), (LETTERS, ("broker-a",))):
        for name in names:
            layout = TopicConfig(name=topic, read_queue_count=1, write_queue_count=1)
            agents.agent(name).put_topic(layout)
    await agents.send(RETRIES, 1, name="broker-b")
    await agents.send(LETTERS, 3)
    agents.agent("broker-b").groups.remove("billing")
    await eventually(lambda: holders(agents, RETRIES) == ["broker-a", "broker-b"])
    await eventually(lambda: holders(agents, LETTERS) == ["broker-a"])


def holders(agents, topic):
    """Name the groups that a route of a topic has."""
    route = agents.server.find_route(topic)
    return [] if route is None else [entry.members.broker_group_name for entry in route.entries]


async def test_a_deletion_that_cleans_up_says_what_is_lost_and_leaves_nothing(agents):
    await leave(agents)

    done = await agents.order(
        "delete_consumer_group", consumer_group_name="billing", cleans_up=True
    )

    assert done.state is S.DONE, done.outcome
    assert done.plan.risk == "R3"
    assert done.plan.loss == (
        "the group's place in every topic; unread are orders 2 messages;"
        f" 1 message in {RETRIES}; 3 messages in {LETTERS}"
    )
    assert [step.name for step in done.steps] == [
        "delete-broker-a",
        "retries-broker-a",
        "retries-broker-b",
        "retries-routes",
        "dead-letters-broker-a",
        "dead-letters-routes",
    ]
    for name in agents.brokers:
        assert agents.agent(name).topics.find(RETRIES) is None
        assert agents.agent(name).topics.find(LETTERS) is None
        assert agents.agent(name).topics.find("orders") is not None
    await eventually(lambda: holders(agents, RETRIES) == holders(agents, LETTERS) == [])


async def test_what_was_cleaned_up_stays_gone_when_the_group_is_made_again(agents):
    await leave(agents)
    done = await agents.order(
        "delete_consumer_group", consumer_group_name="billing", cleans_up=True
    )

    back = await agents.undo(done)

    assert back.state is S.DONE, back.outcome
    assert agents.agent("broker-a").groups.find("billing") is not None
    assert agents.agent("broker-b").groups.find("billing") is None
    assert agents.agent("broker-b").topics.find(RETRIES) is None


async def test_a_deletion_that_does_not_clean_up_says_what_stays(agents):
    await leave(agents)

    done = await agents.order("delete_consumer_group", consumer_group_name="billing")

    assert done.state is S.DONE, done.outcome
    assert done.plan.risk == "R2"
    assert f"Kept: 3 messages in {LETTERS}" in done.plan.impact
    assert f"Kept: 1 message in {RETRIES}" in done.plan.impact
    assert agents.agent("broker-a").topics.find(LETTERS) is not None
    assert holders(agents, RETRIES) == ["broker-a", "broker-b"]
