"""Keep the time of a replica's last heartbeat, also after it is lost.

Revision: 20261126_01
Follows: 20261125_01
"""

import sqlalchemy as sa
from alembic import op

revision = "20261126_01"
down_revision = "20261125_01"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("replicas", sa.Column("last_heard_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("replicas", "last_heard_at")
