"""Create the table of leases of share queues.

Revision: 20261129_02
Follows: 20261129_01
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261129_02"
down_revision = "20261129_01"
branch_labels = None
depends_on = None

TABLE = "share_leases"
KEY = ("broker_group_id", "topic_name", "queue_id", "consumer_group_name")
CHECKS = {
    "numbers": "revision > 0 AND epoch >= 0",
    "state": "state IN ('free', 'held', 'releasing')",
    "owner": "num_nulls(owner_id, owner_life, ends_at) = CASE state WHEN 'free' THEN 3 ELSE 0 END",
}


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("broker_group_id", sa.BigInteger(), nullable=False),
        sa.Column("topic_name", sa.Text(), nullable=False),
        sa.Column("queue_id", sa.Integer(), nullable=False),
        sa.Column("consumer_group_name", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("owner_life", sa.BigInteger(), nullable=True),
        sa.Column("slice_ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiters", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint(*KEY, name=op.f(f"pk_{TABLE}")),
        sa.ForeignKeyConstraint(
            ["broker_group_id"],
            ["broker_groups.id"],
            name=op.f(f"fk_{TABLE}_broker_group_id_broker_groups"),
            ondelete="CASCADE",
        ),
        *(
            sa.CheckConstraint(condition, name=op.f(f"ck_{TABLE}_{name}"))
            for name, condition in CHECKS.items()
        ),
    )


def downgrade() -> None:
    op.drop_table(TABLE)
