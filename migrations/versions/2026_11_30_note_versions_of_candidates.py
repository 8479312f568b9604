"""Keep the protocol version of each broker that waits for adoption.

A broker that waits already reports its version again within a second.

Revision: 20261130_12
Follows: 20261130_11
"""

import sqlalchemy as sa
from alembic import op

revision = "20261130_12"
down_revision = "20261130_11"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("adoption_candidates", sa.Column("protocol_version", sa.Integer()))


def downgrade() -> None:
    op.drop_column("adoption_candidates", "protocol_version")
