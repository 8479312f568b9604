"""The leases of a member: heartbeats, hand-over, the end by its own clock, and the fallback."""

from datetime import timedelta

import pytest
from msgspec import UNSET
from structlog.testing import capture_logs

from backend.domain.share_lease import LeaseState
from backend.domain.share_queue import ShareQueueName
from backend.remoting.bodies.share_leases import ITEM_COUNT_MAX
from backend.rules.share_incident import IncidentKind
from tests.unit.broker.shared_members import SQ, Group, settle
from workers.broker.shares.member_shares import ShareName


@pytest.fixture
def group():
    group = Group()
    group.lane.with_messages.add(SQ)
    return group


async def test_o16_the_first_interest_is_reported_at_once_and_served_after_its_record(group):
    keeper = group.keepers[2]
    assert not keeper.is_due

    keeper.want([SQ])

    assert keeper.is_due
    await group.beat(2)
    # Q24: the member serves from its OWN record on.
    assert group.lane.records == [("OWN", SQ, 1, 2)]
    assert group.serving == [2]
    assert keeper.wanted == frozenset()


async def test_a_sole_owner_keeps_its_share_queue_o17(group):
    await group.own(2)

    await group.pass_time(60)

    assert group.lane.records == [("OWN", SQ, 1, 2)]
    assert group.lease().slice_ends_at is None


async def test_q82_a_member_without_shared_topics_in_use_sends_nothing(group):
    assert not any(one.is_in_use() for one in group.keepers.values())

    await group.own(2)
    # Each member of the group can be the named successor.
    assert all(one.is_in_use() for one in group.keepers.values())


async def test_the_slice_of_an_owner_ends_and_each_member_has_its_turn_o18(group):
    # Q21, Q27: interest that is renewed all the time, as with share.timeShare.
    owners = []
    await group.own(1)
    for _ in range(60):
        for one in group.keepers.values():
            one.want([SQ])
        await group.pass_time(1, step=0.1)
        if group.owner is not None and group.owner not in owners[-1:]:
            owners.append(group.owner)

    assert len(owners) >= 9
    # Round robin: the former owner goes to the back.
    turns = owners[: len(owners) // 3 * 3]
    assert all(sorted(turns[at : at + 3]) == [1, 2, 3] for at in range(0, len(turns), 3))
    records = [kind for kind, *_ in group.lane.records]
    assert records == ["OWN", "UNOWN"] * (len(records) // 2) + ["OWN"] * (len(records) % 2)


async def test_a_share_queue_whose_consumers_are_fast_enough_has_turns_too_o18(group):
    # It has no message at any heartbeat, but consumers got some between them.
    await group.own(1)
    group.lane.with_messages.clear()
    group.users.add(1)
    for _ in range(4):
        group.keepers[2].want([SQ])
        await group.pass_time(1, step=0.1)

    assert group.lane.records[1] == ("UNOWN", SQ, 1, None)


async def test_q26_an_owner_without_credit_gives_back_after_the_linger_if_another_waits(group):
    await group.own(1)
    group.keepers[2].want([SQ])
    await group.beat(2, 1)
    group.credit[1, SQ] = False
    asked_at = group.clock

    await group.pass_time(0.04)
    assert group.owner == 1
    await group.pass_time(0.2)

    assert group.owner == 2
    assert group.clock - asked_at < 0.3
    assert group.lane.records[-2:] == [("UNOWN", SQ, 1, None), ("OWN", SQ, 2, 2)]


async def test_o19_credit_that_returns_within_the_linger_keeps_the_share_queue(group):
    await group.own(1)
    group.keepers[2].want([SQ])
    await group.beat(2, 1)

    for _ in range(20):
        group.credit[1, SQ] = not group.credit.get((1, SQ), True)
        await group.pass_time(0.04)

    assert group.owner == 1


async def test_without_another_member_that_waits_no_credit_changes_nothing_q26(group):
    await group.own(1)
    group.credit[1, SQ] = False

    await group.pass_time(5)

    assert group.owner == 1


async def test_o20_an_empty_share_queue_does_not_move_and_its_first_message_goes_to_a_waiter(group):
    group.lane.with_messages.clear()
    await group.own(1)
    group.credit[1, SQ] = False
    for _ in range(60):
        for broker_id in (2, 3):
            group.keepers[broker_id].want([SQ])
        await group.pass_time(1, step=0.1)
    assert group.lane.records == [("OWN", SQ, 1, 1)]

    for broker_id in (2, 3):
        group.keepers[broker_id].want([SQ])
    group.lane.with_messages.add(SQ)
    came_at = group.clock
    while group.owner == 1:
        await group.pass_time(0.02)

    await group.pass_time(0.02)
    assert group.owner in {2, 3}
    assert group.clock - came_at <= 0.15


async def test_a_free_share_queue_is_asked_for_when_it_gets_its_first_message_o20(group):
    await group.own(1)
    group.lane.with_messages.clear()
    await group.keepers[1].leave()
    group.keepers[2].want([SQ])
    await group.beat(2)
    assert group.owner is None

    group.lane.with_messages.add(SQ)
    await group.pass_time(0.04)

    assert group.owner == 2


async def test_o21_the_next_owner_begins_after_the_last_record_of_the_former_one(group):
    await group.own(1)
    for _ in range(4):
        group.keepers[2].want([SQ])
        await group.pass_time(1, step=0.1)

    kinds = [(kind, epoch) for kind, _, epoch, _ in group.lane.records]
    assert kinds[:3] == [("OWN", 1), ("UNOWN", 1), ("OWN", 2)]


async def test_without_turns_the_first_owner_keeps_a_share_queue_that_several_want_q69(group):
    for shares in group.shares.values():
        shares.topics_with_turns = frozenset()
    group.lane.name(SQ)
    group.lane.with_messages.add(SQ)
    for one in group.keepers.values():
        one.want([SQ])
    await group.pass_time(20, step=0.02)

    assert group.owner is not None
    assert group.lease().epoch == 1
    assert group.lease().waiters == ()


async def test_without_turns_a_former_owner_does_not_want_a_share_queue_again_q69(group):
    for shares in group.shares.values():
        shares.topics_with_turns = frozenset()
    group.lane.with_messages.add(SQ)
    await group.own(1)
    for _ in range(20):
        # Only a member that does not reach the owner wants it.
        group.keepers[2].want([SQ])
        await group.pass_time(0.5, step=0.1)
    await group.pass_time(10, step=0.1)

    assert group.owner == 2
    assert group.lease().epoch == 2
    assert group.lease().waiters == ()


async def test_o21_a_waiter_asks_again_until_the_arbiter_knows_of_the_release(group):
    """It may read in the lane that a share queue is free before the owner has reported that."""
    await group.own(1)
    group.lane.with_messages.add(SQ)
    waiter = group.keepers[2]
    waiter.want([SQ])
    await group.beat(2)
    await group.beat(1)
    group.clock += 2.5
    await group.beat(1)
    assert group.owner is None

    waiter.look()
    await group.beat(2)
    assert group.owner is None
    group.clock += 0.02
    waiter.look()
    assert waiter.is_due
    await group.beat(1, 2)

    assert group.owner == 2


async def test_an_owner_stops_by_its_own_clock_before_its_lease_ends_o23(group):
    await group.own(2)
    group.is_away = True
    group.clock += 8.99
    group.keepers[2].look()
    assert group.serving == [2]

    group.clock += 0.02
    group.keepers[2].look()

    assert group.serving == []
    assert group.clock < 10
    await settle()
    assert group.keepers[2].figures.lapsed == 1


async def test_the_engine_knows_the_end_of_each_lease_o23(group):
    # So it refuses by itself, before the keeper looks.
    await group.own(2)
    assert group.shares[2].ends_at_s == {SQ: 9.0}
    group.clock += 3

    await group.beat(2)

    assert group.shares[2].ends_at_s == {SQ: 12.0}


async def test_an_owner_that_was_paused_serves_nothing_when_it_goes_on_o23(group):
    await group.own(2)
    # The control plane gives the lease away at its end, and the lane has another owner.
    group.clock += 10.5
    group.keepers[3].want([SQ])
    await group.beat(3)
    assert group.owner == 3

    group.keepers[2].look()

    assert group.serving == [3]
    await group.beat(2)
    assert group.lane.epochs[SQ] == 2


async def test_an_answer_counts_from_the_time_of_its_request(group):
    # A slow answer gives no longer lease.
    keeper, ask = group.keepers[2], group.keepers[2]._ask
    await group.own(2)

    async def slow(body):
        group.clock += 3
        return await ask(body)

    keeper._ask = slow
    sent_at = group.clock
    await keeper.beat()

    assert keeper._leases[SQ].stops_at_s == sent_at + 9


async def test_o25_without_a_control_plane_the_sequencer_owns_and_reports_its_epoch_later(group):
    await group.own(2)
    group.is_away = True
    for _ in range(60):
        group.keepers[2].want([SQ])
        # A POP of a member without an owner goes to the sequencer, which wants it then.
        group.keepers[1].want([SQ])
        await group.pass_time(1, step=0.1)
        assert len(group.serving) <= 1

    assert group.serving == [1]
    assert group.lane.epochs[SQ] == 2
    assert group.keepers[1].figures.fallen_back == 1

    group.is_away = False
    for _ in range(3):
        await group.pass_time(1, step=0.1)

    # One owner, and no conflict: the arbiter has adopted the epoch of the lane, or a later one.
    assert len(group.serving) == 1
    assert group.lease().epoch == group.lane.epochs[SQ]
    assert group.lease().owner.broker_id == group.owner


async def test_the_owner_that_hears_the_arbiter_keeps_its_lease_while_the_sequencer_does_not_o25(
    group,
):
    # The epoch decides: the record of the sequencer fences the owner.
    await group.own(2)
    ask = group.keepers[1]._ask

    async def unheard(_body):
        raise ConnectionError("the controller does not answer")

    group.keepers[1]._ask = unheard
    await group.pass_time(11, step=0.1)
    assert group.serving == [1]
    assert group.keepers[2].figures.fenced == 1

    group.keepers[1]._ask = ask
    await group.pass_time(2, step=0.1)

    assert group.serving == [1]
    assert group.lease().is_owned_by(group.lease().owner, group.lane.epochs[SQ])


async def test_a_sequencer_that_is_deposed_stops_what_it_owned_without_a_lease_o25(group):
    group.is_away = True
    await group.pass_time(10.5, step=0.1)
    group.keepers[1].want([SQ])
    await group.pass_time(1, step=0.1)
    assert group.serving == [1]

    group.keepers[1]._is_sequencer = lambda: False
    group.keepers[1].look()
    await settle()

    assert group.serving == []


async def test_a_lost_answer_is_repeated_with_the_same_epoch_o26(group):
    keeper, ask = group.keepers[2], group.keepers[2]._ask

    async def lost(body):
        await ask(body)
        raise ConnectionError("the connection is lost")

    keeper._ask = lost
    keeper.want([SQ])
    await keeper.beat()
    assert group.lease().epoch == 1
    assert group.serving == []

    keeper._ask = ask
    await group.beat(2)

    assert group.lane.records == [("OWN", SQ, 1, 2)]


async def test_an_own_record_that_the_sequencer_did_not_take_is_tried_again_by_the_same_lease(
    group,
):
    group.shares[2].is_cut_off = True
    group.keepers[2].want([SQ])
    await group.beat(2)
    assert group.serving == []

    group.shares[2].is_cut_off = False
    await group.beat(2)

    assert group.lane.records == [("OWN", SQ, 1, 2)]


async def test_a_grant_that_the_lane_has_fenced_is_given_back(group):
    group.lane.own(SQ, 1, 1)
    seen = group.shares[2].seen
    # This member has not read the record yet.
    group.shares[2].seen = dict
    group.keepers[2].want([SQ])
    await group.beat(2)
    assert group.keepers[2].figures.fenced == 1

    group.shares[2].seen = seen
    group.keepers[2].want([SQ])
    await group.beat(2, 2)

    assert group.lane.epochs[SQ] == 2
    assert group.serving == [2]


async def test_o30_a_member_that_stops_gives_all_back_before_it_is_away(group):
    await group.own(2)
    group.keepers[3].want([SQ])
    await group.beat(3, 2)

    await group.keepers[2].leave()

    assert group.serving == []
    assert group.lease().state is LeaseState.FREE
    await group.beat(3)
    assert group.serving == [3]
    group.keepers[2].want([SQ])
    assert group.keepers[2].wanted == frozenset()


async def test_o30_a_hand_over_reaches_the_named_member_within_two_heartbeats(group):
    await group.own(1)
    name = next(iter(group.leases))
    later = group.now.replace(year=2027)
    group.leases[name] = group.leases[name].handed_over(3, later)

    await group.pass_time(2.2)

    assert group.serving == [3]
    assert [kind for kind, *_ in group.lane.records] == ["OWN", "UNOWN", "OWN"]


async def test_a_topic_that_becomes_a_primary_one_is_given_back(group):
    await group.own(2)

    group.shares[2].shared_topics.clear()
    await group.pass_time(0.1)

    assert group.serving == []
    assert group.lease().state is LeaseState.FREE


async def test_interest_ends_some_seconds_after_the_last_pop(group):
    await group.own(1)
    group.keepers[2].want([SQ])
    await group.beat(2)
    assert [one.broker_id for one in group.lease().waiters] == [2]

    await group.pass_time(5, step=0.1)

    assert group.lease().waiters == ()
    assert group.owner == 1


async def test_a_share_queue_of_a_record_without_a_lease_is_stopped(group):
    # The answer to its OWN record was lost, and so was its lease.
    group.lane.own(SQ, 4, 2)
    group.shares[2].serving[SQ] = 4

    group.keepers[2].look()

    assert group.serving == []


async def test_the_owner_of_a_queue_takes_the_retry_topic_of_its_consumers_too(group):
    retry = ShareName("%RETRY%billing+orders", 0, "billing")
    for shares in group.shares.values():
        shares.shared_topics.add(retry.topic)
    group.lane.name(retry)
    await group.own(2)
    await group.pass_time(2, step=0.1)
    assert group.lane.owners[retry] is None

    group.lane.with_messages.add(retry)
    await group.pass_time(1.2)

    assert group.lane.owners[retry] == 2


async def test_o30_a_named_member_takes_over_the_only_share_queue_without_a_consumer(group):
    # Between two owners no lane names one: the successor must go on asking.
    await group.own(2)
    group.credit[2, SQ] = False
    placed = group.lease().handed_over(3, group.now + timedelta(seconds=10))
    group.leases[ShareQueueName(*SQ)] = placed

    await group.pass_time(3, step=0.1)

    assert group.lane.records[-2:] == [("UNOWN", SQ, 1, None), ("OWN", SQ, 2, 3)]
    await group.keepers[3].leave()
    await group.pass_time(30, step=0.5)
    assert not any(one.is_in_use() for one in group.keepers.values())


async def test_a_lease_that_ends_before_its_record_comes_is_not_served_o23(group):
    shares = group.shares[2]
    shares.gate.clear()
    group.keepers[2].want([SQ])
    await group.beat(2)
    group.is_away = True
    group.clock += 9.5

    shares.gate.set()
    await settle()

    # No look has come since.
    assert group.serving == []


async def test_a_member_says_once_that_a_heartbeat_has_no_room_for_all_share_queues(group):
    names = [ShareName("orders", queue_id, "billing") for queue_id in range(ITEM_COUNT_MAX + 3)]

    with capture_logs() as logs:
        for _ in range(2):
            group.keepers[2].want(names)
            await group.beat(2)

    (said,) = (one for one in logs if one["event"] == "share_queues_left_out")
    assert (said["count"], said["log_level"]) == (3, "warning")
    assert len(group.keepers[2].wanted) == 3


async def test_nothing_is_kept_of_a_share_queue_that_was_given_back(group):
    await group.own(2)

    await group.keepers[2].leave()

    assert group.forgotten == [SQ]


def named(heartbeat):
    """List the kinds and positions of the incidents that a heartbeat names."""
    return [(one.kind, one.position) for one in heartbeat.incidents]


async def test_o33_a_member_that_cannot_store_gives_all_leases_back_at_once(group):
    # Q37: the arbiter hears of it, and another member owns with the next two heartbeats.
    await group.own(2)
    group.keepers[3].want([SQ])
    await group.beat(3)
    group.shares[2].is_cut_off = True

    group.incidents[2].open(IncidentKind.CANNOT_STORE, 4_096, "the disk failed")

    assert group.serving == []
    assert group.keepers[2].is_due
    await group.beat(2)
    await group.beat(3)
    assert group.serving == [3]
    assert named(group.heartbeats[-2][1]) == [("cannot_store", 4_096)]
    group.keepers[2].want([SQ])
    assert not group.keepers[2].wanted


async def test_a_lease_that_is_granted_to_a_member_that_cannot_apply_is_given_back(group):
    group.keepers[2].want([SQ])
    body, sent = group.keepers[2]._heartbeat()
    answer = group.arbitrate(2, body)
    group.incidents[2].open(IncidentKind.CANNOT_APPLY, 4_096, "wrong checksum")

    group.keepers[2]._take(answer, sent)
    await group.beat(2)

    assert group.lane.records == []
    assert group.lease().owner is None


async def test_incidents_are_named_until_an_answer_has_come_and_again_when_one_is_over(group):
    incidents, keeper = group.incidents[2], group.keepers[2]
    incidents.open(IncidentKind.RECORD_LEFT_OUT, 100, "wrong checksum")
    incidents.open(IncidentKind.RECORD_LEFT_OUT, 200, "wrong checksum")
    group.is_away = True
    await keeper.beat()
    assert keeper.is_in_use()
    group.is_away = False

    await keeper.beat()
    assert not keeper.is_in_use()
    await keeper.beat()
    incidents.end(IncidentKind.RECORD_LEFT_OUT, kept=[200])
    await keeper.beat()

    bodies = [body for _, body in group.heartbeats]
    assert named(bodies[0]) == [("record_left_out", 100), ("record_left_out", 200)]
    assert bodies[1].incidents is UNSET
    assert named(bodies[2]) == [("record_left_out", 200)]


async def test_a_lease_that_lapsed_is_an_incident_that_is_named_once_q37(group):
    await group.own(2)
    group.is_away = True
    await group.pass_time(10)
    group.is_away = False

    await group.beat(2)
    await group.beat(2)

    first, second = (body.incidents for _, body in group.heartbeats[-2:])
    (lapsed,) = first
    assert (lapsed.kind, lapsed.epoch, lapsed.topic) == (IncidentKind.LEASE_LAPSED, 1, "orders")
    assert second is UNSET


async def test_a_lease_that_another_owner_ended_is_an_incident_and_one_that_a_reset_ended_is_none(
    group,
):
    # Q37: an operator's order needs no look at the clocks and the network of the member.
    await group.own(2)
    group.lane.reset(SQ)
    await group.pass_time(2)
    assert group.keepers[2].figures.fenced == 1
    assert all(body.incidents is UNSET for _, body in group.heartbeats)

    await group.own(2)
    group.lane.own(SQ, group.lane.epochs[SQ] + 1, 1)
    await group.pass_time(0.1)

    (fenced,) = group.heartbeats[-1][1].incidents
    assert (fenced.kind, fenced.topic) == (IncidentKind.LEASE_FENCED, "orders")
