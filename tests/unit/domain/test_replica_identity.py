"""Who answers at a replica's address."""

import pytest

from backend.domain.replica_group import Replica, ReplicaGroup, SyncStateSet
from backend.domain.replica_identity import Reporter, find_other

GROUP = ReplicaGroup(
    "c",
    "g",
    replicas={i: Replica(i, f"10.0.0.{i}:10911", f"c{i}") for i in (1, 2, 3)},
    master_id=1,
    master_epoch=4,
    sync_state_set=SyncStateSet(frozenset({1}), 7),
)


@pytest.mark.parametrize(
    ("reporter", "asked", "other"),
    [
        # Case B6: the report of another broker is never taken for the replica's own.
        (Reporter("c", "g", 3), 2, "broker 3 of the group has its address now"),
        (Reporter("c", "g", 0), 2, "a broker that acts as master has its address now"),
        (Reporter("c", "h", 2), 2, "a broker of h in cluster c has its address"),
        (Reporter("d", "g", 2), 2, "a broker of g in cluster d has its address"),
        (Reporter("c", "g", 2), 1, "broker 2 of the group has its address now"),
        (Reporter("c", "g", 2), 2, None),
        (Reporter("c", "g", 0), 1, None),
        (Reporter("c", "g", 1), 1, None),
        (None, 2, None),
    ],
)
def test_a_replica_is_known_by_what_the_broker_at_its_address_says(reporter, asked, other):
    assert find_other(reporter, GROUP, asked) == other
