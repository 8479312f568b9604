"""Create the tables of maintenance: slots, findings, lags, the checkpoint of the audit.

Revision: 20261122_06
Follows: 20261122_05
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261122_06"
down_revision = "20261122_05"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "maintenance_runs",
        sa.Column("task_name", sa.Text(), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("interval_ms", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        _instant("began_at"),
        _instant("lost_at"),
        _instant("ended_at", nullable=True),
        sa.Column("outcome", JSONB(), nullable=True),
        sa.CheckConstraint("interval_ms > 0", name=op.f("ck_maintenance_runs_interval")),
        sa.PrimaryKeyConstraint("task_name", name=op.f("pk_maintenance_runs")),
    )
    op.create_table(
        "findings",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("evidence", JSONB(), nullable=False),
        sa.Column("first_evidence", JSONB(), nullable=False),
        _instant("suspected_at"),
        _instant("opened_at", nullable=True),
        _instant("cleared_at", nullable=True),
        _instant("closed_at", nullable=True),
        sa.CheckConstraint(
            "closed_at IS NULL OR opened_at IS NOT NULL", name=op.f("ck_findings_closed")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_findings")),
    )
    op.create_index(
        "uq_findings_present",
        "findings",
        ["code", "cluster_name", "subject"],
        unique=True,
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_index(op.f("ix_findings_cluster_name_id"), "findings", ["cluster_name", "id"])
    op.create_index(
        op.f("ix_findings_closed_at"),
        "findings",
        ["closed_at"],
        postgresql_where=sa.text("closed_at IS NOT NULL"),
    )
    op.create_table(
        "audit_checkpoint",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        _instant("removed_at"),
        sa.CheckConstraint("id = 1", name=op.f("ck_audit_checkpoint_single")),
        sa.CheckConstraint("number >= 1", name=op.f("ck_audit_checkpoint_number")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_checkpoint")),
    )
    _create_recorded_lags()


def _create_recorded_lags() -> None:
    op.create_table(
        "recorded_lags",
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("cluster_name", "consumer_group", "topic_name", "group_name")
        ),
        sa.Column("queue_count", sa.Integer(), nullable=False),
        sa.Column("lag", sa.BigInteger(), nullable=False),
        _instant("measured_at"),
        sa.CheckConstraint("lag >= 0 AND queue_count >= 0", name=op.f("ck_recorded_lags_counts")),
        sa.PrimaryKeyConstraint(
            *("cluster_name", "consumer_group", "topic_name", "group_name"),
            name=op.f("pk_recorded_lags"),
        ),
    )
    op.create_index(
        op.f("ix_recorded_lags_cluster_name_group_name"),
        "recorded_lags",
        ["cluster_name", "group_name"],
    )


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def downgrade() -> None:
    for table in ("recorded_lags", "audit_checkpoint", "findings", "maintenance_runs"):
        op.drop_table(table)
