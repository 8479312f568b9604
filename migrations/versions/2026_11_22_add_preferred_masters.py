"""Add the preferred master of a group under a controller.

Revision: 20261122_03
Follows: 20261122_01
"""

import sqlalchemy as sa
from alembic import op

revision = "20261122_03"
down_revision = "20261122_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("replica_groups", sa.Column("preferred_id", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("replica_groups", "preferred_id")
