"""Logs that do not belong together are not joined, although their protocol has no epochs."""

from backend.remoting import java_json
from tests.integration.acting.test_acting import await_read
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually


async def obstacle(client):
    status = java_json.loads((await client.call(907)).body)
    return status["haClientRuntimeInfo"].get("obstacle", "")


async def test_a_replica_with_another_log_of_the_same_size_copies_nothing(fixed_group):
    for key, body in ((0, b"master"), (1, b"others")):
        # Each begins as the master of a group that has no other member.
        client = await fixed_group.add(
            key, name="broker-t", brokerId="0", brokerRole="ASYNC_MASTER", namesrvAddr=""
        )
        assert (await client.send("orders", body)).code == 0
        fixed_group.agents[key].stop()
        known = {"namesrvAddr": f"127.0.0.1:{fixed_group.name_server.port}"}
        role = "SLAVE" if key else "ASYNC_MASTER"
        fixed_group.agents[key].settings |= {"brokerId": str(key), "brokerRole": role} | known
    master = await fixed_group.start(0)
    await fixed_group.await_members({0})

    replica = await fixed_group.start(1, skipPreOnline="true")

    assert "another record" in await eventually(lambda: obstacle(replica))
    assert (await master.send("orders", b"more")).code == 0
    assert await read_all(replica) == [b"others"]
    await await_read(master, [b"master", b"more"])
