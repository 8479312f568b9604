"""The protocol version of a group is that of its lowest member, and never falls by itself."""

from dataclasses import replace

import pytest

from backend.domain.errors import ProtocolVersionRefused
from backend.domain.replica_group import (
    ChangeKind,
    Replica,
    ReplicaGroup,
    apply_broker_id,
    clean_replicas,
    limit_protocol_version,
    lower_protocol_version,
    register_replica,
)

GROUP = "broker-a"


def group_of(*versions, **fields):
    replicas = {
        i: Replica(i, f"10.0.0.{i}:10911", f"code-{i}", version)
        for i, version in enumerate(versions, 1)
    }
    return ReplicaGroup("c", GROUP, replicas=replicas, **fields)


def register(group, broker_id, version):
    held = group.replicas[broker_id]
    return register_replica(
        group,
        broker_group_name=GROUP,
        broker_id=broker_id,
        address=held.address,
        protocol_version=version,
    )


def test_a_group_has_the_version_of_its_lowest_member_once_that_is_upgraded():
    # Q78, Q80: the upgrade of the last member raises the group in the same change.
    group = group_of(2, 1, 1)

    second = register(group, 2, 2)
    third = register(second.after, 3, 3)

    assert second.kind is ChangeKind.PROTOCOL_VERSION_CHANGED
    assert second.after.protocol_version == 1
    assert third.after.protocol_version == 2


def test_a_group_rises_when_its_lowest_member_is_forgotten():
    # Q80
    group = group_of(2, 2, 1)

    change = clean_replicas(
        group,
        broker_group_name=GROUP,
        broker_ids=frozenset({3}),
        cleans_living=False,
        alive_ids={1, 2},
    )

    assert change.after.protocol_version == 2


@pytest.mark.parametrize("version", [2, 3])
def test_a_member_of_at_least_the_version_of_its_group_registers(version):
    # Q79: a newer one is in the group, and the group stays as it is.
    group = group_of(2, 2, protocol_version=2)

    change = register(group, 2, version)

    assert change is None or change.after.protocol_version == 2


def test_o45_a_member_that_is_older_than_its_group_is_refused():
    group = group_of(2, 2, protocol_version=2)
    empty = ReplicaGroup("c", GROUP)

    with pytest.raises(ProtocolVersionRefused, match="release of version 2 or later") as refusal:
        register(group, 2, 1)
    with pytest.raises(ProtocolVersionRefused):
        apply_broker_id(group, empty, Replica(3, "10.0.0.3:10911", "code-3", 1))

    assert "regent controller lower-version broker-a --version 1" in str(refusal.value)


def test_brokers_of_rocketmq_have_no_version_and_hold_up_none():
    group = group_of(1, None)

    change = register(group, 1, 2)

    assert change.after.protocol_version == 2
    assert register(change.after, 2, None) is None


def test_the_first_broker_of_a_group_gives_it_its_version():
    first = Replica(1, "10.0.0.1:10911", "code-1", 2)

    change = apply_broker_id(None, ReplicaGroup("c", GROUP), first)

    assert change.after.protocol_version == 2


def test_o45_a_limit_stops_later_records_before_the_version_falls():
    group = group_of(2, 2, protocol_version=2)

    limited = limit_protocol_version(group, 1).after
    lowered = lower_protocol_version(limited).after

    # Older members are refused until the log has no later record behind its last snapshot.
    assert (limited.protocol_version, limited.written_version) == (2, 1)
    with pytest.raises(ProtocolVersionRefused):
        register(limited, 2, 1)
    assert lowered.protocol_version == 1
    returned = register(lowered, 2, 1).after
    upgraded = register(returned, 2, 2).after
    assert upgraded.protocol_version == 1, "the limit holds"
    assert limit_protocol_version(upgraded, None).after.protocol_version == 2


def test_a_limit_ends_only_where_the_members_allow_the_next_version():
    group = replace(group_of(1, 2), version_limit=1)

    change = limit_protocol_version(group, None)

    assert (change.after.version_limit, change.after.protocol_version) == (None, 1)
    assert limit_protocol_version(change.after, None) is None
    assert lower_protocol_version(change.after) is None
