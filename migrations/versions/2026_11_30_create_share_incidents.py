"""Create the table of incidents of share queues.

Revision: 20261130_11
Follows: 20261130_10
"""

import sqlalchemy as sa
from alembic import op

revision = "20261130_11"
down_revision = "20261130_10"
branch_labels = None
depends_on = None

TABLE = "share_incidents"
REPORT = (
    *("cluster_name", "broker_group_name", "broker_id", "kind", "epoch", "lane", "position"),
    *("topic", "queue_id", "consumer_group_name"),
)


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("broker_group_name", sa.Text(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("life", sa.BigInteger(), nullable=False),
        sa.Column("is_named", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("queue_id", sa.Integer(), nullable=True),
        sa.Column("consumer_group_name", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{TABLE}")),
        sa.CheckConstraint(
            "num_nulls(resolved_at, resolution) IN (0, 2)", name=op.f(f"ck_{TABLE}_resolved")
        ),
    )
    op.create_index(
        f"uq_{TABLE}_report", TABLE, REPORT, unique=True, postgresql_nulls_not_distinct=True
    )
    is_open = sa.text("resolved_at IS NULL")
    op.create_index(f"ix_{TABLE}_open", TABLE, ["id"], postgresql_where=is_open)
    op.create_index(
        op.f(f"ix_{TABLE}_resolved_at"),
        TABLE,
        ["resolved_at"],
        postgresql_where=sa.text("resolved_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_table(TABLE)
