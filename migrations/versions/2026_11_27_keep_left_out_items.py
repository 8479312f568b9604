"""Keep which topics and groups of a broker are left out because no broker can serve them.

Revision: 20261127_10
Follows: 20261127_02
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261127_10"
down_revision = "20261127_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("brokers", sa.Column("left_out", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("brokers", "left_out")
