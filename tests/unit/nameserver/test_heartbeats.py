"""What a heartbeat reports of its sender."""

import pytest

from backend.domain.election import REPORTED, ReplicaReport
from backend.nameserver.processors.registrations import read_report
from backend.remoting.headers import BrokerHeartbeatHeader

NAMES = {"cluster_name": "c", "broker_name": "g", "broker_address": "10.0.0.1:10911"}


def test_every_field_of_a_heartbeat_is_reported():
    header = BrokerHeartbeatHeader(
        **NAMES,
        broker_id=1,
        epoch=4,
        max_offset=50,
        confirm_offset=40,
        heartbeat_timeout_ms=3_000,
        election_priority=7,
        is_verified=False,
        is_cordoned=True,
        is_learner=True,
        process_life=77,
        confirm_epoch=3,
        refused_cut=20,
    )

    report = read_report(header)

    assert report == ReplicaReport(
        age_ms=0,
        timeout_ms=3_000,
        epoch=4,
        max_offset=50,
        confirm_offset=40,
        priority=7,
        is_verified=False,
        is_cordoned=True,
        is_learner=True,
        life=77,
        confirm_epoch=3,
        refused_cut=20,
    )
    unknown = ReplicaReport(0, 0)
    assert [name for name in REPORTED if getattr(report, name) == getattr(unknown, name)] == []


def test_a_heartbeat_of_a_stock_broker_leaves_our_fields_unknown():
    header = BrokerHeartbeatHeader(**NAMES, broker_id=1, epoch=4, max_offset=50)

    assert read_report(header) == ReplicaReport(0, 10_000, epoch=4, max_offset=50, confirm_epoch=4)


@pytest.mark.parametrize(("asked_ms", "granted_ms"), [(-1, 0), (2**62, 86_400_000)])
def test_a_timeout_is_held_to_its_bounds(asked_ms, granted_ms):
    header = BrokerHeartbeatHeader(**NAMES, heartbeat_timeout_ms=asked_ms)

    assert read_report(header) == ReplicaReport(0, granted_ms)
