"""Limit the roles of users to clusters by pattern.

Revision: 20261122_08
Follows: 20261122_06
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "20261122_08"
down_revision = "20261122_07"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "cluster_patterns",
            postgresql.ARRAY(sa.Text()),
            nullable=False,
            server_default="{*}",
        ),
    )


def downgrade() -> None:
    # Without patterns a role is valid everywhere, so a limited user is disabled until an
    # administrator acts.
    op.execute(
        "UPDATE users SET disabled_at = coalesce(disabled_at, now())"
        " WHERE NOT '*' = ANY (cluster_patterns)"
    )
    op.drop_column("users", "cluster_patterns")
