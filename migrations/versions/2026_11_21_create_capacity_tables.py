"""Create the manifest of sample files and the capacity reports.

Revision: 20261121_03
Follows: 20261121_02
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "20261121_03"
down_revision = "20261121_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_sample_files()
    _create_capacity_reports()
    _create_capacity_report_rows()


def downgrade() -> None:
    op.drop_table("capacity_report_rows")
    op.drop_table("capacity_reports")
    op.drop_table("sample_files")


def _create_sample_files() -> None:
    op.create_table(
        "sample_files",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sampled_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sampled_to", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_files")),
        sa.UniqueConstraint("path", name=op.f("uq_sample_files_path")),
    )
    op.create_index(
        op.f("ix_sample_files_dataset_day_cluster_name"),
        "sample_files",
        ["dataset", "day", "cluster_name"],
        unique=False,
    )


def _create_capacity_reports() -> None:
    op.create_table(
        "capacity_reports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("parameters", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("result_path", sa.Text(), nullable=True),
        sa.Column("coverage", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('planned', 'running', 'done', 'failed')",
            name=op.f("ck_capacity_reports_status"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_capacity_reports")),
    )
    op.create_index(
        op.f("ix_capacity_reports_requested_at_id"),
        "capacity_reports",
        ["requested_at", "id"],
        unique=False,
    )


def _create_capacity_report_rows() -> None:
    op.create_table(
        "capacity_report_rows",
        sa.Column("report_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("broker_name", sa.Text(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("topic_name", sa.Text(), nullable=True),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=True),
        sa.Column("disk_total_bytes", sa.BigInteger(), nullable=True),
        sa.Column("disk_free_bytes", sa.BigInteger(), nullable=True),
        sa.Column("bytes_per_day", sa.Double(), nullable=True),
        sa.Column("days_until_full", sa.Double(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('topic_day', 'disk')", name=op.f("ck_capacity_report_rows_kind")
        ),
        sa.ForeignKeyConstraint(
            ["report_id"],
            ["capacity_reports.id"],
            name=op.f("fk_capacity_report_rows_report_id_capacity_reports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("report_id", "position", name=op.f("pk_capacity_report_rows")),
    )
