"""A group of agents under a real controller: joined, acknowledged, failed over, brought back."""

from tests.integration.replication.conftest import read_all


async def test_a_replica_joins_and_takes_over_every_acknowledged_message(group):
    await group.add()
    await group.await_state(1, 1, {1})
    await group.add()
    await group.await_state(1, 1, {1, 2})
    sent = [b"m%d" % number for number in range(200)]
    for body in sent:
        assert (await group.send(1, body)).code == 0

    group.kill(1)

    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0
    assert await read_all(group.client(2)) == [*sent, b"after"]
    await group.start(1)
    await group.await_state(2, 2, {1, 2})
    assert (await group.send(2, b"both")).code == 0
    assert group.log_bytes(1) == group.log_bytes(2)
