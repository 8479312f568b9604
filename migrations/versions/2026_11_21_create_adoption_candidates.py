"""Create the brokers that wait for adoption.

Revision: 20261121_05
Follows: 20261121_04
"""

import sqlalchemy as sa
from alembic import op

revision = "20261121_05"
down_revision = "20261121_04"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "adoption_candidates",
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("broker_id", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("register_code", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=True),
        sa.Column("max_offset", sa.BigInteger(), nullable=True),
        sa.Column("master_id", sa.BigInteger(), nullable=True),
        sa.Column("is_verified", sa.Boolean(), nullable=True),
        sa.Column("first_heard_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heard_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("broker_id >= 1", name=op.f("ck_adoption_candidates_broker_id")),
        sa.PrimaryKeyConstraint(
            "cluster_name", "group_name", "broker_id", name=op.f("pk_adoption_candidates")
        ),
    )


def downgrade() -> None:
    op.drop_table("adoption_candidates")
