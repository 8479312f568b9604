"""Find the highest fencing number at once, so that a new one is higher whatever the clock says.

Revision: 20261127_40
Follows: 20261127_30
"""

from alembic import op

revision = "20261127_40"
down_revision = "20261127_30"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_operations_fence", "operations", ["fence"])


def downgrade() -> None:
    op.drop_index("ix_operations_fence", table_name="operations")
