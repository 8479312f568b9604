"""Create clusters, broker groups, brokers, topics and route versions.

Revision: 20261121_01
Follows: nothing
"""

import sqlalchemy as sa
from alembic import op

revision = "20261121_01"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_clusters()
    _create_broker_groups()
    _create_brokers()
    _create_topics()
    _create_topic_placements()
    _create_route_versions()


def downgrade() -> None:
    op.drop_table("route_versions")
    op.drop_table("topic_placements")
    op.drop_table("topics")
    op.drop_table("brokers")
    op.drop_table("broker_groups")
    op.drop_table("clusters")


def _create_clusters() -> None:
    op.create_table(
        "clusters",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sa.UniqueConstraint("name", name=op.f("uq_clusters_name")),
    )


def _create_broker_groups() -> None:
    op.create_table(
        "broker_groups",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "mode IN ('static', 'acting_master', 'controller')", name=op.f("ck_broker_groups_mode")
        ),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_broker_groups_cluster_id_clusters")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_broker_groups")),
        sa.UniqueConstraint("cluster_id", "name", name=op.f("uq_broker_groups_cluster_id_name")),
    )


def _create_brokers() -> None:
    op.create_table(
        "brokers",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("ha_address", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_registered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_timeout_ms", sa.BigInteger(), nullable=False),
        sa.Column("data_version_counter", sa.BigInteger(), nullable=False),
        sa.Column("data_version_timestamp_ms", sa.BigInteger(), nullable=False),
        sa.Column("data_version_state", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("state IN ('online', 'offline')", name=op.f("ck_brokers_state")),
        sa.CheckConstraint("broker_id >= 0", name=op.f("ck_brokers_broker_id")),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["broker_groups.id"],
            name=op.f("fk_brokers_broker_group_id_broker_groups"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_brokers")),
        sa.UniqueConstraint(
            "broker_group_id", "broker_id", name=op.f("uq_brokers_broker_group_id_broker_id")
        ),
    )


def _create_topics() -> None:
    op.create_table(
        "topics",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.CheckConstraint("octet_length(name) BETWEEN 1 AND 255", name=op.f("ck_topics_name")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_topics_cluster_id_clusters")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topics")),
        sa.UniqueConstraint("cluster_id", "name", name=op.f("uq_topics_cluster_id_name")),
    )


def _create_topic_placements() -> None:
    op.create_table(
        "topic_placements",
        sa.Column("topic_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("read_queue_count", sa.Integer(), nullable=False),
        sa.Column("write_queue_count", sa.Integer(), nullable=False),
        sa.Column("permissions", sa.Integer(), nullable=False),
        sa.Column("is_ordered", sa.Boolean(), nullable=False),
        sa.Column("topic_sys_flag", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "read_queue_count >= 0 AND write_queue_count >= 0",
            name=op.f("ck_topic_placements_queue_counts"),
        ),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["broker_groups.id"],
            name=op.f("fk_topic_placements_broker_group_id_broker_groups"),
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topics.id"], name=op.f("fk_topic_placements_topic_id_topics")
        ),
        sa.PrimaryKeyConstraint("topic_id", "broker_group_id", name=op.f("pk_topic_placements")),
    )
    op.create_index(
        op.f("ix_topic_placements_broker_group_id"),
        "topic_placements",
        ["broker_group_id"],
        unique=False,
    )


def _create_route_versions() -> None:
    op.create_table(
        "route_versions",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_route_versions_cluster_id_clusters")
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_route_versions")),
    )
