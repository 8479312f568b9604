"""A lease counts from when it was asked for, and for one epoch only."""

from workers.broker.replication.lease import EpochLease


def test_a_lease_ends_as_long_after_the_request_as_it_was_granted_for():
    lease = EpochLease()

    lease.grant(4, asked_at_s=10.0, lease_ms=3000)

    assert lease.is_live(4, 12.9)
    assert not lease.is_live(4, 13.0)
    assert not lease.is_live(5, 11.0)


def test_an_answer_that_comes_out_of_order_shortens_nothing():
    lease = EpochLease()
    lease.grant(4, asked_at_s=10.0, lease_ms=3000)

    lease.grant(4, asked_at_s=9.0, lease_ms=3000)

    assert lease.is_live(4, 12.5)


def test_a_dropped_lease_is_over():
    lease = EpochLease()
    lease.grant(4, asked_at_s=10.0, lease_ms=3000)

    lease.drop()

    assert not lease.is_live(4, 10.0)


def test_a_grant_that_is_older_than_a_refusal_changes_nothing():
    lease = EpochLease()
    lease.grant(4, asked_at_s=10.0, lease_ms=3000)

    lease.refuse(asked_at_s=11.0)
    lease.grant(4, asked_at_s=11.0, lease_ms=3000)
    assert not lease.is_live(4, 11.0)

    lease.grant(4, asked_at_s=11.5, lease_ms=3000)
    assert lease.is_live(4, 14.0)
