"""Store the leases of share queues: one read and one conditional write for each heartbeat.

The number of statements does not depend on the number of share queues. No lock is held between the
two: a lease is written only if its row has not changed since the read.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from backend.db.pipeline import Pipeline, Statement
from backend.domain.share_lease import (
    LeaseState,
    Member,
    ShareLease,
    Standing,
    Waiter,
)
from backend.domain.share_queue import ShareQueueName

INCIDENT_COUNT_MAX: Final = 1_000
"""The incidents that one statement records at most."""

# The leases of the named share queues, and all those of which the member is owner or waiter.
_READ: Final = Statement(
    "read_share_leases",
    """
SELECT b.id, clock_timestamp(),
       CAST(:broker_id AS bigint) = ANY (g.sync_state_set) AS is_in_sync,
       coalesce(g.master_id = CAST(:broker_id AS bigint), FALSE) AS is_sequencer,
       coalesce((SELECT r.life
                   FROM replica_reports r
                  WHERE r.broker_group_id = b.id AND r.broker_id = CAST(:broker_id AS bigint)
                  ORDER BY r.heard_at DESC
                  LIMIT 1), 0) AS known_life,
       (SELECT coalesce(jsonb_agg(to_jsonb(l)), '[]')
          FROM share_leases l
         WHERE l.broker_group_id = b.id
           AND (l.owner_id = CAST(:broker_id AS bigint)
                OR l.waiters @> jsonb_build_array(
                       jsonb_build_object('broker_id', CAST(:broker_id AS bigint)))
                OR (l.topic_name, l.queue_id, l.consumer_group_name) IN (
                       SELECT * FROM unnest(CAST(:topic_names AS text[]),
                                            CAST(:queue_ids AS integer[]),
                                            CAST(:consumer_group_names AS text[]))))) AS leases
  FROM clusters c
  JOIN broker_groups b ON b.cluster_id = c.id
  JOIN replica_groups g ON g.broker_group_id = b.id
 WHERE c.name = :cluster_name AND b.name = :broker_group_name
""",
    is_replanned=True,
)

# In the order of the keys, so that two writers never wait for each other in a circle. A row without
# a former revision is new; if another process has inserted it meanwhile, it is not written.
_WRITE: Final = Statement(
    "write_share_leases",
    """
INSERT INTO share_leases AS kept (
    broker_group_id, topic_name, queue_id, consumer_group_name, revision, epoch, state, owner_id,
    owner_life, slice_ends_at, ends_at, waiters)
SELECT CAST(:broker_group_id AS bigint), told.topic_name, told.queue_id, told.consumer_group_name,
       told.revision + 1, told.epoch, told.state, told.owner_id, told.owner_life,
       told.slice_ends_at, told.ends_at, told.waiters
  FROM unnest(CAST(:topic_names AS text[]), CAST(:queue_ids AS integer[]),
              CAST(:consumer_group_names AS text[]), CAST(:revisions AS bigint[]),
              CAST(:epochs AS bigint[]), CAST(:states AS text[]), CAST(:owner_ids AS bigint[]),
              CAST(:owner_lives AS bigint[]), CAST(:slice_ends AS timestamptz[]),
              CAST(:ends AS timestamptz[]), CAST(:waiters AS jsonb[]))
    AS told (topic_name, queue_id, consumer_group_name, revision, epoch, state, owner_id,
             owner_life, slice_ends_at, ends_at, waiters)
 ORDER BY told.topic_name, told.queue_id, told.consumer_group_name
    ON CONFLICT (broker_group_id, topic_name, queue_id, consumer_group_name) DO UPDATE
   SET revision = EXCLUDED.revision, epoch = EXCLUDED.epoch, state = EXCLUDED.state,
       owner_id = EXCLUDED.owner_id, owner_life = EXCLUDED.owner_life,
       slice_ends_at = EXCLUDED.slice_ends_at, ends_at = EXCLUDED.ends_at,
       waiters = EXCLUDED.waiters
 WHERE kept.revision = EXCLUDED.revision - 1
RETURNING kept.topic_name, kept.queue_id, kept.consumer_group_name
""",
    is_replanned=True,
)

# Leases whose time is over are shown as they are: the next heartbeat of a member ends them.
_LIST: Final = Statement(
    "list_share_leases",
    """
SELECT c.name, b.name, coalesce(jsonb_agg(to_jsonb(l)), '[]')
  FROM share_leases l
  JOIN broker_groups b ON b.id = l.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 WHERE (c.name, b.name) IN (
       SELECT * FROM unnest(CAST(:clusters AS text[]), CAST(:groups AS text[])))
 GROUP BY c.name, b.name
""",
    is_replanned=True,
)

# A broker without a heartbeat at any process of the control plane has no lease and waits for none.
# A process that reports again meanwhile keeps its leases.
_FREE_GONE: Final = Statement(
    "free_share_leases_of_gone",
    """
WITH gone AS (
SELECT b.id AS broker_group_id, told.broker_id
  FROM unnest(CAST(:clusters AS text[]), CAST(:groups AS text[]), CAST(:broker_ids AS bigint[]))
       AS told (cluster_name, broker_group_name, broker_id)
  JOIN clusters c ON c.name = told.cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = told.broker_group_name
 WHERE NOT EXISTS (
       SELECT FROM replica_reports r
        WHERE r.broker_group_id = b.id AND r.broker_id = told.broker_id
          AND clock_timestamp() - r.heard_at <= make_interval(secs => r.timeout_ms / 1000.0))),
due AS (
SELECT l.broker_group_id, l.topic_name, l.queue_id, l.consumer_group_name,
       l.owner_id, l.owner_life, l.epoch,
       l.owner_id IN (SELECT g.broker_id FROM gone g
                       WHERE g.broker_group_id = l.broker_group_id) AS is_freed,
       (SELECT coalesce(jsonb_agg(one ORDER BY place), '[]')
          FROM jsonb_array_elements(l.waiters) WITH ORDINALITY AS w (one, place)
         WHERE CAST(one ->> 'broker_id' AS bigint) NOT IN (
               SELECT g.broker_id FROM gone g
                WHERE g.broker_group_id = l.broker_group_id)) AS waiters
  FROM share_leases l
 WHERE l.broker_group_id IN (SELECT broker_group_id FROM gone)
   AND EXISTS (
       SELECT FROM gone g
        WHERE g.broker_group_id = l.broker_group_id
          AND (l.owner_id = g.broker_id
               OR l.waiters @> jsonb_build_array(jsonb_build_object('broker_id', g.broker_id))))
 ORDER BY l.broker_group_id, l.topic_name, l.queue_id, l.consumer_group_name
   FOR UPDATE OF l),
lost AS (
INSERT INTO share_incidents (
    cluster_name, broker_group_name, broker_id, life, is_named, kind, epoch, lane, topic, queue_id,
    consumer_group_name, opened_at, resolved_at, resolution)
SELECT c.name, b.name, due.owner_id, due.owner_life, FALSE, 'owner_lost', due.epoch, 0,
       due.topic_name, due.queue_id, due.consumer_group_name, clock_timestamp(), clock_timestamp(),
       'lease_ended'
  FROM due
  JOIN broker_groups b ON b.id = due.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 WHERE due.is_freed
 LIMIT CAST(:incident_count_max AS bigint)
    ON CONFLICT DO NOTHING)
UPDATE share_leases AS kept
   SET revision = kept.revision + 1,
       waiters = due.waiters,
       state = CASE WHEN due.is_freed THEN 'free' ELSE kept.state END,
       owner_id = CASE WHEN due.is_freed THEN NULL ELSE kept.owner_id END,
       owner_life = CASE WHEN due.is_freed THEN NULL ELSE kept.owner_life END,
       ends_at = CASE WHEN due.is_freed THEN NULL ELSE kept.ends_at END,
       slice_ends_at = CASE WHEN due.is_freed THEN NULL ELSE kept.slice_ends_at END
  FROM due
 WHERE kept.broker_group_id = due.broker_group_id AND kept.topic_name = due.topic_name
   AND kept.queue_id = due.queue_id AND kept.consumer_group_name = due.consumer_group_name
""",
    is_replanned=True,
)


@dataclass(frozen=True, slots=True)
class HeldLeases:
    """Hold leases as one statement read them, with what their broker group says of the member.

    `now` is the time of Postgres. `known_life` is the number of the process that the last heartbeat
    of the member is of; 0 without a heartbeat that says so.
    """

    broker_group_id: int
    now: datetime
    standing: Standing
    known_life: int
    leases: Mapping[ShareQueueName, ShareLease]
    revisions: Mapping[ShareQueueName, int]


class _Row(msgspec.Struct):
    topic_name: str
    queue_id: int
    consumer_group_name: str
    revision: int
    epoch: int
    state: LeaseState
    owner_id: int | None
    owner_life: int | None
    slice_ends_at: datetime | None
    ends_at: datetime | None
    waiters: tuple[Waiter, ...]

    @property
    def name(self) -> ShareQueueName:
        return ShareQueueName(self.topic_name, self.queue_id, self.consumer_group_name)

    @property
    def lease(self) -> ShareLease:
        owner = None
        if self.owner_id is not None and self.owner_life is not None:
            owner = Member(self.owner_id, self.owner_life)
        return ShareLease(
            self.epoch, self.state, owner, self.slice_ends_at, self.ends_at, self.waiters
        )


async def find(
    pipeline: Pipeline,
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    names: Collection[ShareQueueName],
) -> HeldLeases | None:
    """Read the leases that matter to a member; None if a controller does not know its group."""
    values = {
        "cluster_name": cluster_name,
        "broker_group_name": broker_group_name,
        "broker_id": broker_id,
    }
    rows = await pipeline.fetch(_READ, values | _names(names))
    if not rows:
        return None
    group_id, now, is_in_sync, is_sequencer, known_life, leases = rows[0]
    read = msgspec.json.decode(leases, type=list[_Row])
    return HeldLeases(
        int(group_id),
        datetime.fromisoformat(now),
        Standing(is_in_sync=is_in_sync == "t", is_sequencer=is_sequencer == "t"),
        int(known_life),
        {row.name: row.lease for row in read},
        {row.name: row.revision for row in read},
    )


async def list_of_groups(
    pipeline: Pipeline, groups: Collection[tuple[str, str]]
) -> dict[tuple[str, str], dict[ShareQueueName, ShareLease]]:
    """List the leases of broker groups; a key is the name of a cluster and that of a group."""
    values = {
        "clusters": [cluster_name for cluster_name, _ in groups],
        "groups": [broker_group_name for _, broker_group_name in groups],
    }
    rows = await pipeline.fetch(_LIST, values)
    return {
        (str(cluster_name), str(group_name)): {
            row.name: row.lease for row in msgspec.json.decode(leases, type=list[_Row])
        }
        for cluster_name, group_name, leases in rows
    }


async def free_gone(pipeline: Pipeline, keys: Collection[tuple[str, str, int]]) -> None:
    """Free the leases of brokers that no process of the control plane hears, and their places.

    Each lease that ends so is an incident; of many at once the first ones are recorded.

    A key is the name of a cluster, the name of a broker group and the id of a broker.
    """
    values = {
        "clusters": [cluster_name for cluster_name, _, _ in keys],
        "groups": [broker_group_name for _, broker_group_name, _ in keys],
        "broker_ids": [broker_id for _, _, broker_id in keys],
        "incident_count_max": INCIDENT_COUNT_MAX,
    }
    await pipeline.fetch(_FREE_GONE, values)


async def write(
    pipeline: Pipeline, held: HeldLeases, changed: Mapping[ShareQueueName, ShareLease]
) -> bool:
    """Write changed leases, and return whether all of them had not changed since they were read.

    If some had, the others are written all the same.
    """
    listed = list(changed.values())
    owners = [lease.owner for lease in listed]
    values = {
        "broker_group_id": held.broker_group_id,
        "revisions": [held.revisions.get(name, 0) for name in changed],
        "epochs": [lease.epoch for lease in listed],
        "states": [lease.state for lease in listed],
        "owner_ids": [None if owner is None else owner.broker_id for owner in owners],
        "owner_lives": [None if owner is None else owner.life for owner in owners],
        "slice_ends": [lease.slice_ends_at for lease in listed],
        "ends": [lease.ends_at for lease in listed],
        "waiters": [msgspec.json.encode(lease.waiters).decode() for lease in listed],
    }
    rows = await pipeline.fetch(_WRITE, values | _names(changed))
    return len(rows) == len(changed)


def _names(names: Collection[ShareQueueName]) -> dict[str, Any]:
    return {
        "topic_names": [name.topic for name in names],
        "queue_ids": [name.queue_id for name in names],
        "consumer_group_names": [name.consumer_group_name for name in names],
    }
