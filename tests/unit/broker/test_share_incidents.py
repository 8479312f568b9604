"""The incidents of a member: which of them it names, and when one is over."""

from types import SimpleNamespace

import pytest
from regent_engine import StoreError

from backend.remoting.bodies.share_leases import INCIDENT_COUNT_MAX
from backend.rules.share_incident import IncidentKind
from workers.broker.broker import Broker
from workers.broker.shares.member_shares import MemberShares, ShareName
from workers.broker.shares.share_incidents import ShareIncidents


@pytest.fixture
def incidents():
    return ShareIncidents(lambda: 3)


@pytest.fixture
def former_master(incidents):
    """A broker that led, and has found a record that each member leaves out."""
    shares = SimpleNamespace(is_leading=True, is_acting=False)
    hot = SimpleNamespace(left_out_shares=lambda: [100] if shares.is_leading else [])
    broker = SimpleNamespace(
        shares=shares, hot=hot, share_incidents=incidents, is_read_limited=False
    )
    member = MemberShares(broker)
    member._note_left_out()
    shares.is_leading = False
    return member


def test_a_member_that_cannot_store_says_so_however_many_records_are_left_out_q37(incidents):
    for position in range(2 * INCIDENT_COUNT_MAX):
        incidents.open(IncidentKind.RECORD_LEFT_OUT, position, "wrong checksum")
        name = ShareName("orders", position, "billing")
        incidents.note_lease(IncidentKind.LEASE_LAPSED, name, 1)

    incidents.open(IncidentKind.CANNOT_STORE, 9_000, "the disk failed")

    assert incidents.is_disabled
    named = incidents.named()
    assert len(named) <= INCIDENT_COUNT_MAX
    assert (IncidentKind.CANNOT_STORE, 9_000) in [(one.kind, one.position) for one in named]


def test_a_record_that_is_left_out_is_no_incident_of_a_replica_that_does_not_read_the_lane(
    former_master, incidents
):
    # The master reports it, until a snapshot follows.
    former_master.follow()

    former_master._note_left_out()

    assert incidents.named() == []


@pytest.mark.parametrize("topics", [set(), {"orders"}])
def test_a_record_that_is_left_out_stays_an_incident_until_the_next_master_is_known(
    former_master, incidents, topics
):
    former_master._shared = topics
    former_master.pause()
    former_master._note_left_out()
    assert [one.position for one in incidents.named()] == [100]

    former_master._may_follow = bool(topics)
    former_master._note_left_out()

    assert [one.position for one in incidents.named()] == [100]


def test_a_broker_gives_up_its_lease_although_its_store_says_nothing_after_a_failure(incidents):
    class Store:
        @property
        def flushed_position(self):
            raise StoreError("the store refuses work after a panic")

    given_up = []
    broker = SimpleNamespace(
        block_writes=lambda _block: None,
        membership=SimpleNamespace(flush_failed=lambda: given_up.append(True)),
        share_incidents=incidents,
        store=Store(),
    )

    with pytest.raises(StoreError):
        Broker._on_flush_failure(broker, OSError("the disk failed"))

    assert given_up == [True]


def test_lost_messages_of_many_topics_are_named_in_several_heartbeats(incidents):
    names = [f"t{number}" for number in range(2 * INCIDENT_COUNT_MAX + 1)]
    for name in names:
        incidents.note_lost(name, 3)

    told = []
    while incidents.is_due:
        named = incidents.named()
        assert len(named) <= INCIDENT_COUNT_MAX
        told += [one.topic for one in named]
        incidents.answered(named)

    assert told == names
    assert not incidents.is_disabled
