"""The reports of brokers about their lag."""

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.replication import GetLogPosition


async def test_master_and_replica_report_where_their_logs_end_and_who_has_no_role_yet_does_not(
    group, eventually
):  # D21
    await group.add_many(2)
    assert (await group.send(1, b"m")).code == 0
    fenced = await group.add(controllerAddr="127.0.0.1:1")
    client = RemotingClient()
    brokers = Brokers(client)

    async def reported():
        return [
            await brokers.ask(f"127.0.0.1:{agent.port}", GetLogPosition())
            for agent in (*group.agents[:2], fenced)
        ]

    async def have_the_same_end():
        master, replica, _ = await reported()
        return master.max_offset == replica.max_offset > 0

    await eventually(have_the_same_end)
    master, replica, without_role = await reported()
    await client.aclose()

    assert (master.is_following, replica.is_following) == (False, True)
    assert (without_role.max_offset, without_role.is_following) == (None, False)
