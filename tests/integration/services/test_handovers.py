"""Before an operator's election the current master is asked to hand over, where that is of use."""

import asyncio

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerRefused, BrokerUnreachable
from backend.brokers.requests.replication import HandOver
from backend.domain.election import Ballot
from backend.domain.errors import ElectionFailed, MasterEpochMoved, MasterLeaseLive
from backend.domain.replica_group import LeasePolicy
from backend.services.controller import elections
from backend.services.controller.elections import ElectionRequest
from tests.integration.services.controller_driver import NAME, ControllerDriver

GONE = BrokerUnreachable("10.0.0.1:10911", "nobody listens")
STOCK = BrokerRefused("10.0.0.1:10911", "code 3, request type 7002 not supported")


class FakeBrokers(Brokers):
    """Notes who is asked to hand over, and how the group is then."""

    def __init__(self, error=None):
        self.error, self.asked, self.driver = error, [], None

    async def ask(self, address, inquiry):
        assert isinstance(inquiry, HandOver)
        self.asked.append((address, inquiry.master_epoch, (await self.driver.group()).master_id))
        if self.error is not None:
            raise self.error


async def group_of(database, brokers, **changes):
    driver = ControllerDriver(database, brokers=brokers, **changes)
    brokers.driver = driver
    await driver.make_f3()
    address = (await driver.group()).master.address
    return driver, address


async def test_a_living_master_is_asked_first_and_then_replaced(database):
    brokers = FakeBrokers()
    driver, address = await group_of(database, brokers)

    view = await driver.elect(2, designated=True)

    assert brokers.asked == [(address, 1, 1)]
    assert (view.group.master_id, view.group.master_epoch) == (2, 2)


@pytest.mark.parametrize("error", [GONE, STOCK])
async def test_one_that_does_not_hand_over_is_replaced_all_the_same(database, error):
    brokers = FakeBrokers(error)
    driver, _ = await group_of(database, brokers)

    view = await driver.elect(2, designated=True)

    assert len(brokers.asked) == 1
    assert (view.group.master_id, view.group.master_epoch) == (2, 2)


async def test_no_handover_is_asked_of_a_master_that_stays_or_is_dead_or_would_be_replaced(
    database,
):
    brokers = FakeBrokers()
    driver, _ = await group_of(database, brokers)

    await driver.elect(1, designated=True)
    await driver.elect(2)
    driver.hear(2)
    with pytest.raises(ElectionFailed):
        await driver.elect(3, designated=True)
    await driver.elect(2, designated=True)

    assert brokers.asked == []
    assert (await driver.group()).master_id == 2


async def test_no_broker_is_asked_for_an_election_that_would_be_refused(database):
    brokers = FakeBrokers()
    driver, _ = await group_of(database, brokers, lease_policy=LeasePolicy.STRICT)
    await driver.record(database, ("c", "g", 1), lease=[("c", "g", 1)], epoch=1)
    driver.hear(1, 2, 3, epoch=1)

    with pytest.raises(MasterLeaseLive):
        await driver.elect(2, designated=True)
    command = ElectionRequest(NAME, Ballot(2, is_designated=True), "test", expected_epoch=7)
    with pytest.raises(MasterEpochMoved):
        await elections.elect(command, driver.controller)

    assert brokers.asked == []


async def test_two_operators_at_once_elect_once_each_or_find_the_other_ones_master(database):
    brokers = FakeBrokers()
    driver, _ = await group_of(database, brokers)

    outcomes = await asyncio.gather(
        *(driver.elect(2, designated=True) for _ in range(2)), return_exceptions=True
    )

    assert [outcome.group.master_id for outcome in outcomes] == [2, 2]
    assert (await driver.group()).master_epoch == 2


async def test_a_new_master_has_the_lease_that_its_election_promised(database):  # D9
    driver, _ = await group_of(database, FakeBrokers(), lease_policy=LeasePolicy.STRICT)
    driver.heartbeat_source.promised_ms = 5_000

    await driver.elect(2, designated=True)

    assert 0 < (await driver.view()).liveness.lease_left_ms <= 5_000
