"""Who owns a share queue, by the requests of members and the time that is passed in."""

from datetime import UTC, datetime, timedelta

from backend.domain.share_lease import (
    HeldLease,
    LeaseHeartbeat,
    LeaseState,
    LeaseTerms,
    Member,
    ShareLease,
    Standing,
    Waiter,
    Wish,
    arbitrate,
)
from backend.domain.share_queue import ShareQueueName

SQ = ShareQueueName("orders", 0, "billing")
A, B, C = Member(1, 100), Member(2, 100), Member(3, 100)
START = datetime(2026, 1, 1, tzinfo=UTC)
TERMS = LeaseTerms(ttl=timedelta(seconds=10), slice=timedelta(seconds=2))
IN_SYNC = Standing(is_in_sync=True, is_sequencer=False)
SEQUENCER = Standing(is_in_sync=True, is_sequencer=True)
LATE = Standing(is_in_sync=False, is_sequencer=False)


class Arbiter:
    """Keeps the lease of one share queue; each call is a heartbeat at a time in seconds."""

    def __init__(self, lease=None):
        self.lease = lease or ShareLease()

    def hear(self, member, at, *, held=None, wish=None, released=None, standing=IN_SYNC):
        """Return the granted epoch, if any, and whether the share queue is revoked."""
        heartbeat = LeaseHeartbeat(
            member,
            {} if held is None else {SQ: held},
            {} if wish is None else {SQ: wish},
            {} if released is None else {SQ: released},
        )
        decided = arbitrate(
            {SQ: self.lease}, heartbeat, standing, now=START + timedelta(seconds=at), terms=TERMS
        )
        self.lease = decided.changed.get(SQ, self.lease)
        return decided.granted.get(SQ), SQ in decided.revoked

    def want(self, member, at, *, has_messages=True, known_epoch=0, **more):
        return self.hear(member, at, wish=Wish(known_epoch, has_messages), **more)

    def hold(self, member, at, epoch, *, has_messages=True, **more):
        return self.hear(member, at, held=HeldLease(epoch, has_messages), **more)


KEPT, REVOKED = (None, False), (None, True)


def test_o16_the_first_member_that_asks_for_a_free_share_queue_gets_it():
    arbiter = Arbiter()

    assert arbiter.want(A, 0) == (1, False)

    ends_at = START + timedelta(seconds=10)
    assert arbiter.lease == ShareLease(1, LeaseState.HELD, A, ends_at=ends_at)


def test_an_owner_that_renews_keeps_its_epoch_o17():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    assert [arbiter.hold(A, at, 1) for at in range(3, 600, 3)] == [KEPT] * 199

    assert arbiter.lease.slice_ends_at is None


def test_a_repeated_request_gets_the_same_epoch_o26():
    arbiter = Arbiter()

    assert [arbiter.want(A, at) for at in (0, 1, 2)] == [(1, False)] * 3

    assert arbiter.lease.ends_at == START + timedelta(seconds=12)


def test_a_waiter_waits_for_the_end_of_the_slice_and_the_former_owner_goes_to_the_back_o18():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    assert arbiter.want(B, 1) == KEPT
    assert arbiter.want(C, 1.5) == KEPT

    assert arbiter.hold(A, 2.9, 1) == KEPT
    assert arbiter.hold(A, 3, 1) == REVOKED
    assert arbiter.want(B, 3.1) == KEPT
    assert arbiter.want(A, 3.2, released=1) == KEPT

    assert arbiter.want(C, 3.3) == KEPT
    assert arbiter.want(B, 3.4) == (2, False)
    assert [one.broker_id for one in arbiter.lease.waiters] == [3, 1]


def test_a_revoked_lease_is_renewed_no_more_so_it_ends_even_if_nothing_is_given_back():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.want(B, 1)
    arbiter.hold(A, 4, 1)

    assert arbiter.hold(A, 5, 1) == REVOKED
    assert arbiter.want(B, 9.9) == KEPT
    assert arbiter.want(B, 10) == (2, False)


def test_an_empty_share_queue_is_not_granted_and_its_waiters_keep_their_order_o20():
    arbiter = Arbiter()
    for second in range(60):
        for member in (B, A, C):
            assert arbiter.want(member, second, has_messages=False) == KEPT
    assert arbiter.lease.epoch == 0

    assert arbiter.want(A, 60, has_messages=False) == KEPT
    assert arbiter.want(B, 60) == (1, False)
    assert arbiter.want(A, 60.1) == KEPT


def test_an_owner_of_an_empty_share_queue_is_not_revoked_until_a_message_comes_o20():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    for second in range(1, 60):
        assert arbiter.hold(A, second, 1, has_messages=False) == KEPT
        assert arbiter.want(B, second, has_messages=False) == KEPT

    assert arbiter.hold(A, 60, 1) == REVOKED


def test_a_member_that_sees_no_message_does_not_hold_up_one_that_does():
    arbiter = Arbiter()
    arbiter.want(A, 0, has_messages=False)

    assert arbiter.want(B, 1) == (1, False)

    assert arbiter.lease.waiters == (Waiter(1, START + timedelta(seconds=10), has_messages=False),)


def test_a_waiter_that_is_silent_or_wants_no_more_loses_its_place():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.want(B, 0)
    arbiter.want(C, 0.5)
    arbiter.hear(C, 1)
    assert [one.broker_id for one in arbiter.lease.waiters] == [2]

    arbiter.hold(A, 1.5, 1)
    assert arbiter.hold(A, 10, 1) == KEPT

    assert (arbiter.lease.waiters, arbiter.lease.slice_ends_at) == ((), None)


def test_a_lease_that_has_ended_is_not_renewed():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    assert arbiter.hold(A, 10, 1) == REVOKED

    assert arbiter.lease == ShareLease(epoch=1)


def test_a_new_run_of_the_owner_gets_the_next_epoch():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    assert arbiter.want(Member(1, 101), 1) == (2, False)
    assert arbiter.hold(A, 2, 1) == REVOKED


def test_a_late_release_of_an_earlier_epoch_has_no_effect():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.hear(A, 1, released=1)
    arbiter.want(A, 2)

    arbiter.hear(A, 3, released=1)

    assert arbiter.lease.is_owned_by(A, 2)


def test_a_member_outside_the_set_gets_nothing_and_gives_back_what_it_has():
    arbiter = Arbiter()
    assert arbiter.want(A, 0, standing=LATE) == KEPT
    arbiter.want(A, 1)

    assert arbiter.hold(A, 2, 1, standing=LATE) == REVOKED

    assert arbiter.lease.state is LeaseState.RELEASING


def test_the_epoch_of_a_sequencer_without_a_control_plane_is_adopted_o25():
    arbiter = Arbiter()
    arbiter.want(B, 0)

    assert arbiter.hold(A, 60, 2, standing=SEQUENCER) == KEPT

    assert arbiter.lease.is_owned_by(A, 2)
    assert arbiter.hold(B, 61, 1) == REVOKED


def test_a_sequencer_that_took_an_epoch_which_was_granted_meanwhile_gets_the_next_one_o25():
    arbiter = Arbiter(ShareLease(epoch=1))
    assert arbiter.want(B, 60) == (2, False)

    assert arbiter.hold(A, 61, 2, standing=SEQUENCER) == (3, False)

    assert arbiter.hold(B, 62, 2) == REVOKED


def test_a_sequencer_with_a_lower_epoch_than_the_last_grant_loses_it():
    arbiter = Arbiter(ShareLease(epoch=6))
    arbiter.want(B, 60)

    assert arbiter.hold(A, 61, 6, standing=SEQUENCER) == REVOKED

    assert arbiter.lease.is_owned_by(B, 7)


def test_an_epoch_of_the_lane_that_the_arbiter_does_not_know_is_never_granted_again():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    assert arbiter.want(B, 1, known_epoch=8) == (9, False)


def test_an_answer_that_came_too_late_is_not_renewed_without_another_request():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    assert arbiter.hear(A, 1) == KEPT

    assert arbiter.lease.ends_at == START + timedelta(seconds=10)


def test_an_owner_learns_that_another_member_waits_q26():
    arbiter = Arbiter()
    arbiter.want(A, 0)

    def awaited(at):
        heartbeat = LeaseHeartbeat(A, {SQ: HeldLease(1, has_messages=False)}, {}, {})
        now = START + timedelta(seconds=at)
        return arbitrate({SQ: arbiter.lease}, heartbeat, IN_SYNC, now=now, terms=TERMS).awaited

    assert awaited(1) == []
    arbiter.want(B, 1, has_messages=False)
    assert awaited(2) == [SQ]


def test_a_named_successor_gets_the_share_queue_without_a_request_o30():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.want(C, 0.5)

    arbiter.lease = arbiter.lease.handed_over(B.broker_id, START + timedelta(seconds=11))

    assert arbiter.hold(A, 1, 1) == REVOKED
    assert arbiter.want(A, 1.1, released=1) == KEPT
    assert arbiter.want(C, 1.2) == KEPT
    assert arbiter.hear(B, 1.3) == (2, False)
    assert arbiter.lease.is_owned_by(B, 2)
    assert [one.broker_id for one in arbiter.lease.waiters] == [C.broker_id, A.broker_id]


def test_a_successor_that_does_not_ask_in_time_holds_up_no_waiter_o30():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.lease = arbiter.lease.handed_over(B.broker_id, START + timedelta(seconds=3))
    arbiter.hear(A, 1, released=1)

    assert arbiter.want(C, 2) == KEPT
    assert arbiter.want(C, 3) == (2, False)


def test_a_successor_that_is_not_in_sync_loses_its_place_o30():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    arbiter.lease = arbiter.lease.handed_over(B.broker_id, START + timedelta(seconds=11))

    assert arbiter.hear(B, 1, standing=LATE) == KEPT

    assert arbiter.lease.waiters == ()


def test_an_owner_that_is_its_own_successor_keeps_the_share_queue():
    arbiter = Arbiter()
    arbiter.want(A, 0)
    before = arbiter.lease

    assert before.handed_over(A.broker_id, START + timedelta(seconds=11)) == before
