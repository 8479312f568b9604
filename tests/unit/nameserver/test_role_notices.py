"""Elections are sent as they were prepared, unless the receiver has sent a heartbeat meanwhile."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from regent_engine import Decoder

from backend.domain.election import ReplicaReport
from backend.domain.replica_group import Replica, ReplicaGroup, SyncStateSet
from backend.nameserver.presence import PresenceTable
from backend.nameserver.role_notices import RoleNotices

KEY = ("c", "g", 2)
SENT = ReplicaReport(age_ms=0, timeout_ms=3_000, epoch=4, max_offset=10)
REPLICAS = {i: Replica(i, f"10.0.0.{i}:10911", "code") for i in (1, 2)}
ELECTED = ReplicaGroup(
    "c",
    "g",
    replicas=REPLICAS,
    master_id=2,
    master_epoch=5,
    sync_state_set=SyncStateSet(frozenset({2}), 8),
)


class Peer:
    """A connection that keeps what it received."""

    def __init__(self):
        self.notices = []

    def notify(self, frame):
        self.notices += Decoder(1 << 20).receive(frame)


@pytest.fixture
def clock():
    return SimpleNamespace(now_ms=1_000.0)


@pytest.fixture
def heard(clock):
    return PresenceTable(UUID(int=1), lambda: clock.now_ms)


@pytest.fixture
def prepare(heard):
    """Prepare to notify of the election, as the controller has it done while Postgres writes."""
    controller = SimpleNamespace(listeners=[])
    RoleNotices(heard, controller, client=None)
    [listener] = controller.listeners
    return listener


def speak(heard, connection):
    heard.hear(KEY, SENT, connection=connection, takes_notices=True)


def test_a_new_master_receives_its_epoch_and_its_lease(heard, clock, prepare):
    peer = Peer()
    speak(heard, peer)
    clock.now_ms += 400
    heard.promise_lease(KEY)

    notify = prepare(ELECTED)
    assert peer.notices == []
    notify(77)

    [notice] = peer.notices
    assert (notice.code, notice.ext["masterEpoch"]) == (1008, "5")
    assert notice.ext["leaseMs"] == "3000"


def test_a_heartbeat_before_the_commit_shortens_the_lease_that_is_sent(heard, clock, prepare):
    peer = Peer()
    speak(heard, peer)
    heard.promise_lease(KEY)
    notify = prepare(ELECTED)

    clock.now_ms += 700
    speak(heard, peer)
    notify(77)

    # The broker counts it from this heartbeat, and Postgres from the one before (D9).
    assert [notice.ext["leaseMs"] for notice in peer.notices] == ["2300"]


def test_a_replica_on_a_new_connection_is_notified_over_it(heard, prepare):
    former, present = Peer(), Peer()
    speak(heard, former)
    heard.promise_lease(KEY)
    notify = prepare(ELECTED)

    heard.remove_replicas_over(former)
    speak(heard, present)
    notify(77)

    assert former.notices == []
    # It has sent nothing that the election's lease could count from.
    assert ["leaseMs" in notice.ext for notice in present.notices] == [False]
