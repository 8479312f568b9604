"""Masters whose replicas are not named in the settings, and replicas with other logs."""

import asyncio
import shutil

from backend.remoting import java_json
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_members import figures
from tests.waiting import eventually

PLAIN = {"enableSlaveActingMaster": "false", "totalReplicas": "1"}


async def test_a_replica_follows_a_master_whose_settings_name_none(fixed_group):
    master = await fixed_group.add(0, **PLAIN)
    await fixed_group.await_members({0})
    assert (await master.send("orders", b"before")).code == 0
    replica = await fixed_group.add(1, **PLAIN)
    await fixed_group.await_copy(1)

    assert (await master.send("orders", b"after")).code == 0

    await await_read(replica, [b"before", b"after"])
    status = java_json.loads((await master.call(907)).body)
    assert len(status["haConnectionInfo"]) == 1
    # A stop of the master lets the replica have all.
    assert (await master.send("orders", b"last")).code == 0
    await fixed_group.stop(0)
    await await_read(replica, [b"before", b"after", b"last"])


async def test_a_master_says_why_it_waits_for_a_replica_with_a_longer_log(fixed_group):
    """No acknowledged message is removed, and the reason and the next step are visible."""
    master, replica = await fixed_group.add_pair()
    assert (await master.send("orders", b"kept")).code == 0
    await fixed_group.await_copy(1)
    await fixed_group.stop(0)
    store = fixed_group.agents[0].root / "store"
    await asyncio.to_thread(shutil.copytree, store, store.with_name("older"))
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    assert (await master.send("orders", b"lost by the master")).code == 0
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await asyncio.to_thread(shutil.rmtree, store)
    store.with_name("older").rename(store)

    master = await fixed_group.start(0)

    async def explains():
        return "lost messages that this replica has" in (await figures(master))["notOnlineReason"]

    await eventually(explains)
    assert "docs/maintenance.md" in (await figures(master))["notOnlineReason"]
    assert fixed_group.agents[0].events("broker_not_online")
    assert 0 not in await fixed_group.members()
    await await_read(replica, [b"kept", b"lost by the master"])
    # The step that keeps the messages: the master gets the store of the replica.
    await fixed_group.stop(0)
    await fixed_group.stop(1)
    await asyncio.to_thread(shutil.rmtree, store)
    await asyncio.to_thread(shutil.copytree, fixed_group.agents[1].root / "store", store)
    master = await fixed_group.start(0)
    await fixed_group.await_members({0})
    await await_read(master, [b"kept", b"lost by the master"])
    await fixed_group.start(1)
    await fixed_group.await_members({0, 1})
    await fixed_group.await_copy(1)


async def test_a_broker_that_is_not_online_stops_at_once(fixed_group):
    master, _ = await fixed_group.add_pair()
    assert (await master.send("orders", b"m")).code == 0
    await fixed_group.await_copy(1)
    await fixed_group.pause(1)
    fixed_group.kill(0)

    for broker_id, properties in [(0, {}), (0, {"namesrvAddr": "127.0.0.1:1"})]:
        client = await fixed_group.start(broker_id, **properties)
        assert (await figures(client))["online"] == "false"
        await fixed_group.stop(broker_id)
        (stopped,) = fixed_group.agents[broker_id].events("broker_stopped")
        assert int(stopped.partition("duration_ms=")[2].split()[0]) < 5_000
    fixed_group.kill(1)
    replica = await fixed_group.start(1, namesrvAddr="127.0.0.1:1")
    assert (await figures(replica))["online"] == "false"
    await fixed_group.stop(1)
