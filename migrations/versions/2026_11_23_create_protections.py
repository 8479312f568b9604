"""Create the table of what may not be deleted.

Revision: 20261123_01
Follows: 20261122_09
"""

import sqlalchemy as sa
from alembic import op

revision = "20261123_01"
down_revision = "20261122_09"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "protections",
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("protected_by", sa.Text(), nullable=False),
        sa.Column("protected_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('topic', 'consumer_group', 'broker')", name=op.f("ck_protections_kind")
        ),
        sa.PrimaryKeyConstraint("cluster_name", "kind", "name", name=op.f("pk_protections")),
    )


def downgrade() -> None:
    op.drop_table("protections")
