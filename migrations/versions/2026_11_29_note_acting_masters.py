"""Keep which replica acts for the absent master of a broker group, and since when.

Revision: 20261129_01
Follows: 20261128_50
"""

import sqlalchemy as sa
from alembic import op

revision = "20261129_01"
down_revision = "20261128_50"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("broker_groups", sa.Column("acting_id", sa.BigInteger()))
    op.add_column("broker_groups", sa.Column("acting_since", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("broker_groups", "acting_since")
    op.drop_column("broker_groups", "acting_id")
