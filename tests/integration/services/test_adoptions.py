"""A group that Postgres lost is restored from the reports of its brokers, on an order (D6)."""

import pytest
from sqlalchemy import text, update

from backend.db.tables import adoption_candidates
from backend.domain.adoption import EPOCHS_SKIPPED, AdoptionOrder
from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.election import ReplicaReport
from backend.domain.errors import (
    AdoptionAwaited,
    AdoptionRefused,
    BrokerGroupNotControlled,
    BrokerIdRefused,
    BrokerNotRegistered,
    InvalidName,
    MasterEpochMoved,
)
from backend.services.controller import adoptions, replica_groups
from backend.services.controller.adoptions import AdoptionRequest
from tests.integration.services.controller_driver import NAME

FACTS = {"epoch": 5, "max_offset": 900, "master_id": 0, "is_verified": True}


async def register(driver, broker_id, *, group="g", code="", **facts):
    address = f"10.0.0.{broker_id}:10911"
    told = {"register_code": code or f"{address};1", **FACTS, **facts}
    command = replica_groups.RegisterReplica("c", group, broker_id, address, **told)
    return await replica_groups.register(command, driver.controller)


async def claim(driver, *broker_ids, **facts):
    for broker_id in broker_ids:
        with pytest.raises(AdoptionAwaited):
            await register(driver, broker_id, **facts)


async def adopt(driver, *broker_ids, expected_epoch=0, **order):
    command = AdoptionRequest(
        NAME, AdoptionOrder(frozenset(broker_ids), **order), "operator test", expected_epoch
    )
    return await adoptions.adopt(command, driver.controller)


async def waiting(driver, **page):
    values = {"size": 50, "after": None} | page
    return await adoptions.list_candidates(
        **values, within=EVERYWHERE, controller=driver.controller
    )


async def silence(database, *, minutes):
    async with database.begin() as connection:
        heard_at = text(f"clock_timestamp() - interval '{minutes} minutes'")
        await connection.execute(update(adoption_candidates).values(heard_at=heard_at))


async def test_a_unknown_broker_is_kept_with_what_it_reports(controller):
    await claim(controller, 2, max_offset=2**40)
    await claim(controller, 2, max_offset=2**41)

    [kept] = (await waiting(controller)).items

    one = kept.candidate
    assert (kept.cluster_name, kept.broker_group_name, one.broker_id) == ("c", "g", 2)
    assert (one.address, one.register_code) == ("10.0.0.2:10911", "10.0.0.2:10911;1")
    assert (one.epoch, one.max_offset, one.master_id, one.is_verified) == (5, 2**41, 0, True)
    assert kept.first_heard_at < kept.heard_at
    with pytest.raises(BrokerGroupNotControlled):
        await controller.group()


async def test_what_a_broker_does_not_report_is_unknown_unless_its_heartbeats_say_it(controller):
    nothing = dict.fromkeys(FACTS)
    await claim(controller, 1, **nothing)
    controller.heartbeat_source.heard = {2: ReplicaReport(0, 10_000, epoch=7, max_offset=70)}
    await claim(controller, 2, **nothing)

    one, two = [stored.candidate for stored in (await waiting(controller)).items]

    assert (one.epoch, one.max_offset, one.master_id, one.is_verified) == (None,) * 4
    assert (two.epoch, two.max_offset, two.master_id) == (7, 70, None)


async def test_a_lost_group_has_its_ids_codes_and_acknowledged_messages_again(controller):
    await claim(controller, 1, max_offset=800)
    await claim(controller, 2)

    await adopt(controller, 1, 2)

    controller.hear(1, 2, epoch=5, max_offset=900)
    assert (await register(controller, 1)).group.master_id is None
    assert (await waiting(controller)).items == ()
    # After any request, the broker with all data wins, in an epoch that no log holds.
    elected = (await controller.elect(1)).group
    assert (elected.master_id, elected.master_epoch) == (2, 5 + EPOCHS_SKIPPED + 1)
    assert await controller.next_id() == 3
    changes = await replica_groups.list_changes(
        NAME, size=9, before=None, controller=controller.controller
    )
    assert [(c.kind, c.cause) for c in changes.items][-1] == ("replicas_adopted", "operator test")


async def test_an_adopted_group_has_the_version_of_its_lowest_broker(controller):  # Q78
    await claim(controller, 1, protocol_version=1)
    await claim(controller, 1, 2, protocol_version=2)

    adopted = (await adopt(controller, 1, 2)).group

    held = await controller.group()
    assert adopted.protocol_version == held.protocol_version == 2
    assert {one.protocol_version for one in held.replicas.values()} == {2}


async def test_a_code_that_is_not_the_adopted_one_is_refused(controller):
    await claim(controller, 1)
    await adopt(controller, 1)

    with pytest.raises(BrokerIdRefused):
        await register(controller, 1, code="10.9.9.9:1;another")
    with pytest.raises(BrokerIdRefused):
        await controller.apply(1, "10.9.9.9:1;another")
    await controller.apply(1, "10.0.0.1:10911;1")

    assert (await controller.group()).replicas[1].address == "10.0.0.1:10911"


async def test_of_two_that_claim_an_id_the_first_is_believed_until_it_is_silent(
    controller, database
):
    await claim(controller, 1)

    with pytest.raises(BrokerIdRefused):
        await register(controller, 1, code="10.9.9.9:1;another")
    await silence(database, minutes=2)
    await claim(controller, 1, code="10.9.9.9:1;another")

    [kept] = (await waiting(controller)).items
    assert kept.candidate.register_code == "10.9.9.9:1;another"


async def test_who_was_silent_is_not_adopted_and_is_forgotten_after_a_day(controller, database):
    await claim(controller, 1)
    await silence(database, minutes=1)

    with pytest.raises(AdoptionRefused, match="silent for 60 s"):
        await adopt(controller, 1)
    await silence(database, minutes=1_441)
    await claim(controller, 2)

    assert [one.candidate.broker_id for one in (await waiting(controller)).items] == [2]


async def test_a_group_that_waits_is_not_founded_again_by_a_new_broker(controller, database):
    await claim(controller, 1, 2)

    with pytest.raises(AdoptionAwaited):
        await controller.apply(1, "10.9.9.9:1;new")
    await controller.apply(1, group="another")
    await silence(database, minutes=61)
    await controller.apply(1, "10.9.9.9:1;new")

    assert await controller.next_id() == 2


async def test_an_order_for_a_group_that_came_back_meanwhile_is_refused(drive):
    one, other = drive(), drive()
    await claim(one, 1)
    await claim(one, 2)
    await adopt(one, 1, accepts_loss=True)

    with pytest.raises(MasterEpochMoved):
        await adopt(other, 2)
    epoch = (await one.group()).master_epoch
    await adopt(other, 2, expected_epoch=epoch)

    assert sorted((await one.group()).replicas) == [1, 2]


async def test_a_forgotten_replica_is_no_candidate(controller):
    await controller.make_f3()
    controller.hear(1, 2)
    await controller.clean("3")

    with pytest.raises(BrokerNotRegistered):
        await register(controller, 3)

    assert (await waiting(controller)).items == ()


@pytest.mark.parametrize(
    ("broker_id", "group", "error"),
    [(0, "g", BrokerNotRegistered), (-1, "g", BrokerNotRegistered), (1, "../g", InvalidName)],
)
async def test_a_claim_that_can_not_be_is_not_kept(controller, broker_id, group, error):
    with pytest.raises(error):
        await register(controller, broker_id, group=group)

    assert (await waiting(controller)).total_count == 0


async def test_candidates_are_paged_by_cluster_group_and_id(controller):
    for group in ("b", "a"):
        await claim(controller, 2, 1, group=group)

    first = await waiting(controller, size=3)
    rest = await waiting(controller, after=first.next_key)

    keys = [one.key for one in first.items + rest.items]
    assert keys == [("c", "a", 1), ("c", "a", 2), ("c", "b", 1), ("c", "b", 2)]
    assert (first.total_count, rest.next_key) == (4, None)
