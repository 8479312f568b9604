"""Create the tables of static topics: topics, queue counts, segments, retired queues, changes.

Revision: 20261128_02
Follows: 20261128_01
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "20261128_02"
down_revision = "20261128_01"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_topics()
    _create_counts()
    _create_segments()
    _create_retired()
    _create_changes()


def downgrade() -> None:
    op.drop_table("logical_queue_changes")
    op.drop_table("retired_queues")
    op.drop_table("logical_queue_segments")
    op.drop_table("static_topic_queue_counts")
    op.drop_table("static_topics")


def _create_topics() -> None:
    op.create_table(
        "static_topics",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("offset_mode", sa.Text(), nullable=False),
        sa.Column("block_size", sa.Integer(), nullable=False),
        sa.Column("ended_queues", JSONB(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_static_topics")),
        sa.UniqueConstraint(
            "cluster_name", "name", name=op.f("uq_static_topics_cluster_name_name")
        ),
        _check("static_topics_name", "octet_length(name) BETWEEN 1 AND 255"),
        _check("static_topics_epoch", "epoch > 0 AND version > 0"),
        _check("static_topics_offset_mode", "offset_mode IN ('contiguous', 'block')"),
        _check("static_topics_block_size", "block_size > 0"),
    )
    op.create_index(
        "uq_static_topics_global_name",
        "static_topics",
        ["name"],
        unique=True,
        postgresql_where=sa.text("scope = '__global__'"),
    )


def _create_counts() -> None:
    op.create_table(
        "static_topic_queue_counts",
        sa.Column("topic_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_group_name", sa.Text(), nullable=False),
        sa.Column("read_count", sa.Integer(), nullable=False),
        sa.Column("write_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "topic_id", "broker_group_name", name=op.f("pk_static_topic_queue_counts")
        ),
        _of_topic("static_topic_queue_counts"),
        _check(
            "static_topic_queue_counts_counts", "write_count >= 0 AND read_count >= write_count"
        ),
    )


def _create_segments() -> None:
    table = "logical_queue_segments"
    op.create_table(
        table,
        sa.Column("topic_id", sa.BigInteger(), nullable=False),
        sa.Column("global_id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("broker_group_name", sa.Text(), nullable=False),
        sa.Column("queue_id", sa.Integer(), nullable=False),
        sa.Column("logical_start", sa.BigInteger(), nullable=True),
        sa.Column("physical_start", sa.BigInteger(), nullable=False),
        sa.Column("physical_end", sa.BigInteger(), nullable=True),
        sa.Column("first_stored_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_stored_ms", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("is_reused", sa.Boolean(), nullable=False),
        sa.Column("is_forced", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("topic_id", "global_id", "generation", name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["topic_id", "broker_group_name"],
            ["static_topic_queue_counts.topic_id", "static_topic_queue_counts.broker_group_name"],
            name=op.f(f"fk_{table}_broker_group"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "topic_id",
            "broker_group_name",
            "queue_id",
            name=op.f(f"uq_{table}_topic_id_broker_group_name_queue_id"),
        ),
        _check(f"{table}_state", "state IN ('prepared', 'normal', 'read_only')"),
        _check(f"{table}_global_id", "global_id BETWEEN 0 AND 65535"),
        _check(f"{table}_numbers", "generation >= 0 AND queue_id >= 0 AND physical_start >= 0"),
        _check(f"{table}_physical_start", "physical_start = 0 OR is_reused"),
        _check(f"{table}_physical_end", "physical_end >= physical_start"),
        _check(f"{table}_logical_start", "logical_start >= 0"),
        _check(f"{table}_decided", "(logical_start IS NULL) = (state = 'prepared')"),
        _check(
            f"{table}_ended",
            "CASE state WHEN 'read_only' THEN physical_end IS NOT NULL OR is_forced"
            " ELSE physical_end IS NULL END",
        ),
    )
    queue = ["topic_id", "global_id"]
    _create_unique(
        f"uq_{table}_start", table, [*queue, "logical_start"], "logical_start IS NOT NULL"
    )
    _create_unique(f"uq_{table}_normal", table, queue, "state = 'normal'")
    _create_unique(f"uq_{table}_prepared", table, queue, "state = 'prepared'")


def _create_retired() -> None:
    op.create_table(
        "retired_queues",
        sa.Column("topic_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_group_name", sa.Text(), nullable=False),
        sa.Column("queue_id", sa.Integer(), nullable=False),
        sa.Column("global_id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("final_offset", sa.BigInteger(), nullable=False),
        sa.Column("is_reusable", sa.Boolean(), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(
            "topic_id", "broker_group_name", "queue_id", name=op.f("pk_retired_queues")
        ),
        _of_topic("retired_queues"),
        _check("retired_queues_numbers", "queue_id >= 0 AND final_offset >= 0"),
    )


def _create_changes() -> None:
    table = "logical_queue_changes"
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("topic_name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("before", JSONB(), nullable=False),
        sa.Column("after", JSONB(), nullable=True),
        sa.Column("moves", JSONB(), nullable=False),
        sa.Column("converged", ARRAY(sa.Text()), nullable=False),
        sa.Column("stale", ARRAY(sa.Text()), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        _check(
            f"{table}_kind",
            "kind IN ('create', 'expand', 'shrink', 'migrate', 'remap', 'delete', 'convert',"
            " 'import')",
        ),
        _check(
            f"{table}_state", "state IN ('moving', 'spreading', 'done', 'rolling_back', 'aborted')"
        ),
        _check(f"{table}_ended", "(ended_at IS NOT NULL) = (state IN ('done', 'aborted'))"),
        _check(f"{table}_after", "(ended_at IS NULL) = (after IS NULL)"),
        _check(f"{table}_epoch", "epoch > 0"),
    )
    topic = ["cluster_name", "topic_name"]
    _create_unique(f"uq_{table}_unfinished", table, topic, "ended_at IS NULL")
    op.create_index(op.f(f"ix_{table}_cluster_name_topic_name_epoch"), table, [*topic, "epoch"])


def _check(name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=op.f(f"ck_{name}"))


def _of_topic(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["topic_id"],
        ["static_topics.id"],
        name=op.f(f"fk_{table}_topic_id_static_topics"),
        ondelete="CASCADE",
    )


def _create_unique(name: str, table: str, columns: list[str], condition: str) -> None:
    op.create_index(name, table, columns, unique=True, postgresql_where=sa.text(condition))
