"""What a master does in each tick, beside the work of its term."""

from types import SimpleNamespace

from workers.broker.configuration.settings import parse_settings
from workers.broker.replication.master_role import MasterRole

EPOCH = 7
LEASE_MS = 6000


def role_of(broker, may_lead):
    broker.store = SimpleNamespace(max_position=0)
    broker.settings = parse_settings({}).settings
    broker.cleaner = SimpleNamespace(keep_from=lambda _needed: None)
    broker.journal = SimpleNamespace(write=lambda: None)
    broker.meters = SimpleNamespace(pull_count=0)
    broker.confirmation = SimpleNamespace(
        follow=lambda **state: may_lead.append(state["may_lead"]),
    )
    role = MasterRole(broker, ha_socket=None, show=None, announce=None)
    role.elect(EPOCH)
    current = SimpleNamespace(broker_ids=frozenset({1}))
    role.term = SimpleNamespace(
        epoch=EPOCH, current=current, tick=lambda: None, advance=lambda: None
    )
    return role


def test_a_machine_that_slept_through_a_lease_leads_no_logical_queue(monkeypatch):  # L47
    # The clock of the event loop stands while the machine sleeps; the one of the lease does not.
    loop_s, awake_s = 100.0, 5000.0
    monkeypatch.setattr("workers.broker.replication.master_role.elapsed_s", lambda: awake_s)
    may_lead = []
    role = role_of(SimpleNamespace(), may_lead)
    role.take_lease(EPOCH, asked_at_s=awake_s, lease_ms=LEASE_MS)

    role.tick(loop_s)
    awake_s += LEASE_MS / 1000
    role.tick(loop_s)

    assert may_lead == [True, False]
