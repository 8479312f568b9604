"""Keep the number of logical queues that clients see of each static topic.

Revision: 20261128_30
Follows: 20261128_02
"""

import sqlalchemy as sa
from alembic import op

revision = "20261128_30"
down_revision = "20261128_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "static_counts",
        sa.Column("topic_name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("queue_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("topic_name", "scope", name="pk_static_counts"),
    )


def downgrade() -> None:
    op.drop_table("static_counts")
