"""The control plane says who acts, since when and why, and what each broker waits for."""

import signal

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.group_member import MemberPhase
from backend.rules.group_mode import GroupMode
from backend.rules.pre_online import PreOnlinePhase
from backend.services.cluster.group_members import describe_members
from tests.integration.acting.conftest import GROUP
from tests.integration.acting.test_members import figures
from tests.waiting import eventually


@pytest.fixture
async def describe(database, redis):
    client = RemotingClient()

    async def run():
        observed = await describe_members(
            "TestCluster",
            GROUP,
            database=database,
            redis=redis,
            brokers=Brokers(client),
            clock=SystemClock(),
        )
        return observed.found

    yield run
    await client.aclose()


def phases(found):
    return [one.phase for one in found.members]


async def await_phases(describe, *wanted, holds=lambda _: True):
    """Wait for phases, and for what holds of their members; return what was seen then."""

    async def seen():
        found = await describe()
        return found if phases(found) == list(wanted) and holds(found) else None

    return await eventually(seen)


def announces(found):
    """Return whether the master waits for the other members to know it."""
    return found.members[0].report.pre_online_phase is PreOnlinePhase.ANNOUNCE


async def test_who_acts_is_shown_with_its_reason_until_the_master_serves(fixed_group, describe):
    # S106, S109, S117
    master, replica = await fixed_group.add_pair()
    assert (await master.send("orders", b"m")).code == 0
    whole = await await_phases(describe, MemberPhase.SERVING, MemberPhase.STANDING_BY)
    assert (whole.group.mode, whole.acting_reason) == (GroupMode.ACTING_MASTER, None)

    fixed_group.kill(0)
    lost = await await_phases(describe, MemberPhase.SILENT, MemberPhase.ACTING)
    assert (await replica.heartbeat("g", "orders")).code == 0

    assert str(lost.group.acting_name) == f"{GROUP}-1"
    assert "does not answer. Its last heartbeat came at" in lost.acting_reason

    async def says_since():
        return (await describe()).members[1].report.acting_since_ms is not None

    await eventually(says_since)
    # What RocketMQ's clusterList shows as ACTIVATED.
    assert (await figures(replica))["brokerActive"] == "true"

    # The replica is listed, and does not answer: the master waits for it.
    await fixed_group.pause(1)
    await fixed_group.start(0)
    coming = await await_phases(
        describe, MemberPhase.COMING_ONLINE, MemberPhase.ACTING, holds=announces
    )

    assert not coming.members[0].report.is_online
    assert fixed_group.address(1) in coming.members[0].explanation
    assert coming.members[1].error is not None
    assert coming.acting_reason.startswith(f"The master {GROUP}-0")

    fixed_group.agents[1].process.send_signal(signal.SIGCONT)
    back = await await_phases(describe, MemberPhase.SERVING, MemberPhase.STANDING_BY)
    assert back.group.acting_since is None
