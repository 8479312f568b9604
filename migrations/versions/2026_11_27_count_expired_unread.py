"""Keep what expired unread beside recorded lags, and in what members contradict each other.

Revision: 20261127_20
Follows: 20261127_10
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261127_20"
down_revision = "20261127_10"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "recorded_lags",
        sa.Column("expired_count", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    )
    op.create_table(
        "member_contradictions",
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("consumer_group", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("evidence", JSONB(), nullable=False),
        sa.Column("seen_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(
            "cluster_name", "consumer_group", "code", name=op.f("pk_member_contradictions")
        ),
    )


def downgrade() -> None:
    op.drop_table("member_contradictions")
    op.drop_column("recorded_lags", "expired_count")
