"""Keep which replicas are learners, so that a SyncStateSet is complete without them.

Revision: 20261127_01
Follows: 20261126_01
"""

import sqlalchemy as sa
from alembic import op

revision = "20261127_01"
down_revision = "20261126_01"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "replica_sightings",
        sa.Column("is_learner", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("replica_sightings", "is_learner")
