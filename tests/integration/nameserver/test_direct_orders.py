"""What stock's tools order acts at once, and is entered in the audit (D19)."""

import pytest

from backend.services.access.audit import AuditFilter, list_entries
from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3


@pytest.fixture
async def f3(name_server, connect):
    brokers = [BrokerPeer(await connect(name_server), number) for number in (1, 2, 3)]
    await make_f3(brokers)
    return brokers


@pytest.fixture
def audited(database):
    """Read the audit: who, what, and the masters before and after."""

    async def read():
        page = await list_entries(size=10, before=None, chosen=AuditFilter(), database=database)
        return [chained.entry for chained in page.items]

    return read


async def test_an_election_by_a_tool_is_entered_and_one_by_a_broker_is_not(f3, audited):
    assert await audited() == []

    assert (await f3[0].elect(2, designateElect="true")).code == 0

    [entry] = await audited()
    assert (entry.actor, entry.action, entry.subject) == ("unnamed", "group.elect_master", "g")
    assert entry.source.startswith("remoting 127.0.0.1:")
    assert '"master_id":1' in entry.details.split('"before"')[1]
    assert '"master_id":2' in entry.details.split('"after"')[1].split('"before"')[0]


async def test_what_changes_nothing_is_not_entered(f3, audited):
    await f3[0].elect(1, designateElect="true")
    assert (await f3[0].clean("1")).code == 2009

    assert await audited() == []


async def test_cleaning_is_entered(f3, audited):
    assert (await f3[0].clean(living=True)).code == 0

    [entry] = await audited()
    assert (entry.action, entry.cluster_name) == ("group.forget_replicas", "c")
    assert '"after":null' in entry.details
