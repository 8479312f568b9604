"""Declare the tables of static topics: the truth about logical queues (logical-queues.md 2.8).

A value that is not known or not decided is null. Offsets and epochs have 64 bits.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from backend.db.schema import instant, metadata

# `version` grows with every write. A change is written only if epoch and version are those that
# the change was decided from.
static_topics = Table(
    "static_topics",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("cluster_name", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("offset_mode", Text, nullable=False),
    Column("block_size", Integer, nullable=False),
    # Where logical queues continue that were removed: id, generation and end of each.
    Column("ended_queues", JSONB, nullable=False),
    Column("version", BigInteger, nullable=False),
    instant("created_at"),
    UniqueConstraint("cluster_name", "name"),
    # The queue set of the global scope is one for all clusters (logical-queues.md 17.6).
    Index(
        "uq_static_topics_global_name",
        "name",
        unique=True,
        postgresql_where=text("scope = '__global__'"),
    ),
    CheckConstraint("octet_length(name) BETWEEN 1 AND 255", name="name"),
    CheckConstraint("epoch > 0 AND version > 0", name="epoch"),
    CheckConstraint("offset_mode IN ('contiguous', 'block')", name="offset_mode"),
    CheckConstraint("block_size > 0", name="block_size"),
)

# The physical queues of a static topic on each broker group of the cluster.
static_topic_queue_counts = Table(
    "static_topic_queue_counts",
    metadata,
    Column(
        "topic_id", BigInteger, ForeignKey("static_topics.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("broker_group_name", Text, primary_key=True),
    Column("read_count", Integer, nullable=False),
    Column("write_count", Integer, nullable=False),
    # INV-18.
    CheckConstraint("write_count >= 0 AND read_count >= write_count", name="counts"),
)

# One segment of a logical queue. A prepared one is reserved by the unfinished change, and is no
# part of the mapping yet. A normal one takes messages; one queue has one of them at most.
logical_queue_segments = Table(
    "logical_queue_segments",
    metadata,
    Column("topic_id", BigInteger, primary_key=True),
    Column("global_id", Integer, primary_key=True),
    Column("generation", Integer, primary_key=True),
    Column("broker_group_name", Text, nullable=False),
    Column("queue_id", Integer, nullable=False),
    Column("logical_start", BigInteger),
    Column("physical_start", BigInteger, nullable=False),
    Column("physical_end", BigInteger),
    Column("first_stored_ms", BigInteger),
    Column("last_stored_ms", BigInteger),
    Column("state", Text, nullable=False),
    # The physical queue held messages of an earlier segment (INV-19).
    Column("is_reused", Boolean, nullable=False),
    # The source could not be asked for the end (INV-32).
    Column("is_forced", Boolean, nullable=False),
    # Since when its physical queue is seen without a message; null while it may have one. It is
    # no part of the mapping.
    instant("empty_since", nullable=True),
    # INV-20: the broker group of a segment knows the topic.
    ForeignKeyConstraint(
        ["topic_id", "broker_group_name"],
        ["static_topic_queue_counts.topic_id", "static_topic_queue_counts.broker_group_name"],
        name="fk_logical_queue_segments_broker_group",
        ondelete="CASCADE",
    ),
    # INV-17.
    UniqueConstraint("topic_id", "broker_group_name", "queue_id"),
    Index(
        "uq_logical_queue_segments_start",
        *("topic_id", "global_id", "logical_start"),
        unique=True,
        postgresql_where=text("logical_start IS NOT NULL"),
    ),
    Index(
        "uq_logical_queue_segments_normal",
        *("topic_id", "global_id"),
        unique=True,
        postgresql_where=text("state = 'normal'"),
    ),
    Index(
        "uq_logical_queue_segments_prepared",
        *("topic_id", "global_id"),
        unique=True,
        postgresql_where=text("state = 'prepared'"),
    ),
    CheckConstraint("state IN ('prepared', 'normal', 'read_only')", name="state"),
    CheckConstraint("global_id BETWEEN 0 AND 65535", name="global_id"),
    CheckConstraint("generation >= 0 AND queue_id >= 0 AND physical_start >= 0", name="numbers"),
    CheckConstraint("physical_start = 0 OR is_reused", name="physical_start"),
    CheckConstraint("physical_end >= physical_start", name="physical_end"),
    CheckConstraint("logical_start >= 0", name="logical_start"),
    CheckConstraint("(logical_start IS NULL) = (state = 'prepared')", name="decided"),
    CheckConstraint(
        "CASE state WHEN 'read_only' THEN physical_end IS NOT NULL OR is_forced"
        " ELSE physical_end IS NULL END",
        name="ended",
    ),
)

# A physical queue that no segment names any longer (logical-queues.md 12).
retired_queues = Table(
    "retired_queues",
    metadata,
    Column(
        "topic_id", BigInteger, ForeignKey("static_topics.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("broker_group_name", Text, primary_key=True),
    Column("queue_id", Integer, primary_key=True),
    Column("global_id", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("final_offset", BigInteger, nullable=False),
    Column("is_reusable", Boolean, nullable=False),
    instant("retired_at"),
    CheckConstraint("queue_id >= 0 AND final_offset >= 0", name="numbers"),
)

# A change of a static topic: its id is that of its operation, which may change several topics, or
# that of an import. While it is unfinished, its result is in the tables above. The row is kept when
# the topic is deleted.
logical_queue_changes = Table(
    "logical_queue_changes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("cluster_name", Text, nullable=False),
    Column("topic_name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("before", JSONB, nullable=False),
    Column("after", JSONB(none_as_null=True)),
    # How far the move of each logical queue is, with the answers of its brokers.
    Column("moves", JSONB, nullable=False),
    # The broker groups that store the result, and those that get it when they return.
    Column("converged", ARRAY(Text), nullable=False),
    Column("stale", ARRAY(Text), nullable=False),
    instant("began_at"),
    instant("changed_at"),
    instant("ended_at", nullable=True),
    CheckConstraint(
        "kind IN ('create', 'expand', 'shrink', 'migrate', 'remap', 'delete', 'convert', 'import')",
        name="kind",
    ),
    CheckConstraint(
        "state IN ('moving', 'spreading', 'done', 'rolling_back', 'aborted')", name="state"
    ),
    CheckConstraint("(ended_at IS NOT NULL) = (state IN ('done', 'aborted'))", name="ended"),
    CheckConstraint("(ended_at IS NULL) = (after IS NULL)", name="after"),
    CheckConstraint("epoch > 0", name="epoch"),
    Index(
        "uq_logical_queue_changes_unfinished",
        *("cluster_name", "topic_name"),
        unique=True,
        postgresql_where=text("ended_at IS NULL"),
    ),
    Index(None, "cluster_name", "topic_name", "epoch"),
)
