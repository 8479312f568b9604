"""Keep how many messages expired before consumer groups read them, beside their recorded lags.

Revision: 20261127_20
Follows: 20261127_10
"""

import sqlalchemy as sa
from alembic import op

revision = "20261127_20"
down_revision = "20261127_10"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "recorded_lags",
        sa.Column("expired_count", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    )


def downgrade() -> None:
    op.drop_column("recorded_lags", "expired_count")
