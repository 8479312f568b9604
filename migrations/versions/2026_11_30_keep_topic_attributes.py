"""Keep the attributes of topics where they are placed.

A broker of a topic with attributes registers them with its next registration.

Revision: 20261130_13
Follows: 20261130_12
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261130_13"
down_revision = "20261130_12"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "topic_placements",
        sa.Column("attributes", JSONB(), nullable=False, server_default=sa.text("'{}'")),
    )


def downgrade() -> None:
    op.drop_column("topic_placements", "attributes")
