"""Note with a change of a group what people have to know of it, as that it left no writer.

Revision: 20261127_30
Follows: 20261127_20
"""

import sqlalchemy as sa
from alembic import op

revision = "20261127_30"
down_revision = "20261127_20"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("replica_group_changes", sa.Column("warning", sa.Text()))


def downgrade() -> None:
    op.drop_column("replica_group_changes", "warning")
