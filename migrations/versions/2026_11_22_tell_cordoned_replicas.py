"""Keep which replicas are cordoned, so that elections prefer others.

Revision: 20261122_07
Follows: 20261122_06
"""

import sqlalchemy as sa
from alembic import op

revision = "20261122_07"
down_revision = "20261122_06"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "replica_sightings",
        sa.Column("is_cordoned", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("replica_sightings", "is_cordoned")
