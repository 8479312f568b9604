"""Declare every table of the control plane.

Constraint names follow one convention, so that migrations can name them. Numbers of the protocol
(permissions, data versions) keep their form; instants have a time zone.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from backend.db import (
    access_tables,
    event_tables,
    logical_queue_tables,
    maintenance_tables,
    operation_tables,
    share_tables,
)
from backend.db.schema import instant as _instant
from backend.db.schema import metadata

# Imported here, so that the metadata contains all tables.
assert operation_tables.operations.metadata is access_tables.users.metadata is metadata
assert event_tables.events.metadata is maintenance_tables.findings.metadata is metadata
assert logical_queue_tables.static_topics.metadata is metadata
assert share_tables.share_leases.metadata is metadata


def _id() -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), primary_key=True)


clusters = Table(
    "clusters",
    metadata,
    _id(),
    Column("name", Text, nullable=False, unique=True),
    _instant("created_at"),
)

broker_groups = Table(
    "broker_groups",
    metadata,
    _id(),
    Column("cluster_id", BigInteger, ForeignKey("clusters.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("mode", Text, nullable=False),
    _instant("created_at"),
    # The confirmed position of a removed group under a controller, for its adoption.
    Column("confirmed_epoch", Integer, nullable=False, server_default="-1"),
    Column("confirmed_position", BigInteger, nullable=False, server_default="-1"),
    # The replica that acts for the absent master, and since when; null while none does.
    Column("acting_id", BigInteger),
    _instant("acting_since", nullable=True),
    # A group is keyed by its cluster too: two clusters may each have a broker-a (D2).
    UniqueConstraint("cluster_id", "name"),
    CheckConstraint("mode IN ('static', 'acting_master', 'controller')", name="mode"),
)

brokers = Table(
    "brokers",
    metadata,
    _id(),
    Column("broker_group_id", BigInteger, ForeignKey("broker_groups.id"), nullable=False),
    Column("broker_id", BigInteger, nullable=False),
    Column("address", Text, nullable=False),
    Column("ha_address", Text),
    Column("state", Text, nullable=False),
    _instant("registered_at"),
    _instant("last_registered_at"),
    Column("heartbeat_timeout_ms", BigInteger, nullable=False),
    Column("data_version_counter", BigInteger, nullable=False),
    Column("data_version_timestamp_ms", BigInteger, nullable=False),
    Column("data_version_state", BigInteger, nullable=False),
    # Topics and groups of this broker that can't be served, as it registered last; null for none.
    Column("left_out", JSONB(none_as_null=True)),
    UniqueConstraint("broker_group_id", "broker_id"),
    CheckConstraint("state IN ('online', 'offline')", name="state"),
    CheckConstraint("broker_id >= 0", name="broker_id"),
)

# A group under a controller. Every change replaces the row if `revision` is still the one that the
# change was decided from. A revision is the number of the transaction that wrote it, so it is
# unique, also for a group that was removed and created again.
replica_groups = Table(
    "replica_groups",
    metadata,
    Column("broker_group_id", BigInteger, ForeignKey("broker_groups.id"), primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("master_id", BigInteger),
    Column("master_epoch", Integer, nullable=False),
    Column("sync_state_set", ARRAY(BigInteger), nullable=False),
    Column("sync_state_set_epoch", Integer, nullable=False),
    Column("is_master_lost", Boolean, nullable=False),
    Column("lease_policy", Text, nullable=False),
    # The end of the lease of the master; renewals do not change the revision.
    _instant("lease_expires_at", nullable=True),
    Column("preferred_id", BigInteger),
    # The highest confirmed position that a master reported, and the epoch of its last byte; -1 is
    # unknown. Heartbeats raise it and do not change the revision.
    Column("confirmed_epoch", Integer, nullable=False, server_default="-1"),
    Column("confirmed_position", BigInteger, nullable=False, server_default="-1"),
    # The newest master epoch that began with an accepted loss.
    Column("loss_epoch", Integer, nullable=False, server_default="0"),
    # In the order of the set: the process in which each member joined; 0 is unknown.
    Column("member_lives", ARRAY(BigInteger), nullable=False, server_default="{}"),
    # The version of the records that the master may write, and the highest one that it may rise to.
    Column("protocol_version", Integer, nullable=False, server_default="1"),
    Column("version_limit", Integer),
    CheckConstraint("lease_policy IN ('quorum', 'strict')", name="lease_policy"),
    CheckConstraint("master_id IS NULL OR master_id = ANY (sync_state_set)", name="master"),
    CheckConstraint("master_epoch >= 0 AND sync_state_set_epoch >= 0", name="epochs"),
)

replicas = Table(
    "replicas",
    metadata,
    Column(
        "broker_group_id",
        BigInteger,
        ForeignKey("replica_groups.broker_group_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("broker_id", BigInteger, primary_key=True),
    Column("address", Text, nullable=False),
    Column("register_code", Text, nullable=False),
    # Null for a broker that writes no such records, as those of RocketMQ.
    Column("protocol_version", Integer),
    _instant("applied_at"),
    # A removed replica keeps its row, so that its id is never assigned again.
    _instant("removed_at", nullable=True),
    # Outdated while a process receives heartbeats of the replica: see its reports.
    _instant("last_heard_at", nullable=True),
    CheckConstraint("broker_id >= 1", name="broker_id"),
)

# The last report of a replica at each process of the control plane, by the clock of Postgres.
replica_reports = Table(
    "replica_reports",
    metadata,
    Column(
        "broker_group_id",
        BigInteger,
        ForeignKey("replica_groups.broker_group_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("broker_id", BigInteger, primary_key=True),
    Column("heard_by", Uuid, primary_key=True),
    _instant("heard_at"),
    Column("timeout_ms", BigInteger, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("max_offset", BigInteger, nullable=False),
    Column("confirm_offset", BigInteger, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("is_verified", Boolean, nullable=False),
    Column("is_cordoned", Boolean, nullable=False, server_default=false()),
    Column("is_learner", Boolean, nullable=False, server_default=false()),
    Column("life", BigInteger, nullable=False, server_default="0"),
    Column("confirm_epoch", Integer, nullable=False, server_default="-1"),
    Column("refused_cut", BigInteger, nullable=False, server_default="-1"),
)

# Brokers that claim an id of a lost group, until an operator adopts them (D6). A value that they
# did not report is null.
adoption_candidates = Table(
    "adoption_candidates",
    metadata,
    Column("cluster_name", Text, primary_key=True),
    Column("broker_group_name", Text, primary_key=True),
    Column("broker_id", BigInteger, primary_key=True),
    Column("address", Text, nullable=False),
    Column("register_code", Text),
    Column("epoch", Integer),
    Column("max_offset", BigInteger),
    Column("master_id", BigInteger),
    Column("is_verified", Boolean),
    Column("protocol_version", Integer),
    _instant("first_heard_at"),
    _instant("heard_at"),
    CheckConstraint("broker_id >= 1", name="broker_id"),
)

# The history of every change; it is kept when its group is deleted.
replica_group_changes = Table(
    "replica_group_changes",
    metadata,
    _id(),
    Column("cluster_name", Text, nullable=False),
    Column("broker_group_name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("cause", Text, nullable=False),
    _instant("changed_at"),
    Column("master_id", BigInteger),
    Column("master_epoch", Integer, nullable=False),
    Column("sync_state_set", ARRAY(BigInteger), nullable=False),
    Column("sync_state_set_epoch", Integer, nullable=False),
    Column("replica_addresses", JSONB, nullable=False),
    # What people have to know of the change, as that it left the group without a writer.
    Column("warning", Text),
    Index(None, "cluster_name", "broker_group_name", "id"),
)

topics = Table(
    "topics",
    metadata,
    _id(),
    Column("cluster_id", BigInteger, ForeignKey("clusters.id"), nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("cluster_id", "name"),
    CheckConstraint("octet_length(name) BETWEEN 1 AND 255", name="name"),
)

topic_placements = Table(
    "topic_placements",
    metadata,
    Column("topic_id", BigInteger, ForeignKey("topics.id"), primary_key=True),
    Column("broker_group_id", BigInteger, ForeignKey("broker_groups.id"), primary_key=True),
    Column("read_queue_count", Integer, nullable=False),
    Column("write_queue_count", Integer, nullable=False),
    Column("permissions", Integer, nullable=False),
    Column("is_ordered", Boolean, nullable=False),
    Column("topic_sys_flag", Integer, nullable=False),
    # Those of `KEPT_ATTRIBUTES`, as their brokers last registered them.
    Column("attributes", JSONB, nullable=False, server_default=text("'{}'")),
    CheckConstraint("read_queue_count >= 0 AND write_queue_count >= 0", name="queue_counts"),
    Index(None, "broker_group_id"),
)

route_versions = Table(
    "route_versions",
    metadata,
    Column("cluster_id", BigInteger, ForeignKey("clusters.id"), primary_key=True),
    Column("version", BigInteger, nullable=False),
    _instant("changed_at"),
)

# What clients see of static topics: a process that starts continues with it.
static_counts = Table(
    "static_counts",
    metadata,
    Column("topic_name", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("queue_count", Integer, nullable=False),
)

sample_files = Table(
    "sample_files",
    metadata,
    _id(),
    Column("dataset", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("day", Date, nullable=False),
    Column("path", Text, nullable=False, unique=True),
    Column("row_count", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    _instant("sampled_from"),
    _instant("sampled_to"),
    _instant("created_at"),
    Index(None, "dataset", "day", "cluster_name"),
)

capacity_reports = Table(
    "capacity_reports",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("status", Text, nullable=False),
    _instant("requested_at"),
    _instant("started_at", nullable=True),
    _instant("finished_at", nullable=True),
    Column("requested_by", Text, nullable=False),
    Column("parameters", JSONB, nullable=False),
    Column("result_path", Text),
    Column("coverage", JSONB),
    Column("error", Text),
    CheckConstraint("status IN ('planned', 'running', 'done', 'failed')", name="status"),
    Index(None, "requested_at", "id"),
)

capacity_report_rows = Table(
    "capacity_report_rows",
    metadata,
    Column(
        "report_id", Uuid, ForeignKey("capacity_reports.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("broker_name", Text, nullable=False),
    Column("broker_id", BigInteger, nullable=False),
    Column("topic_name", Text),
    Column("day", Date),
    Column("bytes", BigInteger),
    Column("disk_total_bytes", BigInteger),
    Column("disk_free_bytes", BigInteger),
    Column("bytes_per_day", Double),
    Column("days_until_full", Double),
    Column("note", Text),
    CheckConstraint("kind IN ('topic_day', 'disk')", name="kind"),
)
