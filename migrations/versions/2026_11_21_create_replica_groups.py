"""Create replica groups, their replicas, who was heard when, and the history of changes.

Revision: 20261121_04
Follows: 20261121_03
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "20261121_04"
down_revision = "20261121_03"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_replica_groups()
    _create_replicas()
    _create_replica_sightings()
    _create_replica_group_changes()


def downgrade() -> None:
    op.drop_table("replica_group_changes")
    op.drop_table("replica_sightings")
    op.drop_table("replicas")
    op.drop_table("replica_groups")


def _create_replica_groups() -> None:
    op.create_table(
        "replica_groups",
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("master_id", sa.BigInteger(), nullable=True),
        sa.Column("master_epoch", sa.Integer(), nullable=False),
        sa.Column("sync_state_set", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("sync_state_set_epoch", sa.Integer(), nullable=False),
        sa.Column("is_master_lost", sa.Boolean(), nullable=False),
        sa.Column("lease_policy", sa.Text(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "lease_policy IN ('quorum', 'strict')", name=op.f("ck_replica_groups_lease_policy")
        ),
        sa.CheckConstraint(
            "master_id IS NULL OR master_id = ANY (sync_state_set)",
            name=op.f("ck_replica_groups_master"),
        ),
        sa.CheckConstraint(
            "master_epoch >= 0 AND sync_state_set_epoch >= 0",
            name=op.f("ck_replica_groups_epochs"),
        ),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["broker_groups.id"],
            name=op.f("fk_replica_groups_broker_group_id_broker_groups"),
        ),
        sa.PrimaryKeyConstraint("broker_group_id", name=op.f("pk_replica_groups")),
    )


def _create_replicas() -> None:
    op.create_table(
        "replicas",
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("register_code", sa.Text(), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("broker_id >= 1", name=op.f("ck_replicas_broker_id")),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["replica_groups.broker_group_id"],
            name=op.f("fk_replicas_broker_group_id_replica_groups"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("broker_group_id", "broker_id", name=op.f("pk_replicas")),
    )


def _create_replica_sightings() -> None:
    op.create_table(
        "replica_sightings",
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("heard_by", sa.Uuid(), nullable=False),
        sa.Column("heard_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("timeout_ms", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("max_offset", sa.BigInteger(), nullable=False),
        sa.Column("confirm_offset", sa.BigInteger(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("is_verified", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["replica_groups.broker_group_id"],
            name=op.f("fk_replica_sightings_broker_group_id_replica_groups"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "broker_group_id", "broker_id", "heard_by", name=op.f("pk_replica_sightings")
        ),
    )


def _create_replica_group_changes() -> None:
    op.create_table(
        "replica_group_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("master_id", sa.BigInteger(), nullable=True),
        sa.Column("master_epoch", sa.Integer(), nullable=False),
        sa.Column("sync_state_set", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("sync_state_set_epoch", sa.Integer(), nullable=False),
        sa.Column("replica_addresses", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replica_group_changes")),
    )
    op.create_index(
        op.f("ix_replica_group_changes_cluster_name_group_name_id"),
        "replica_group_changes",
        ["cluster_name", "group_name", "id"],
        unique=False,
    )
