"""Keep the protocol version of each replica, and that of its broker group.

A replica that registered before is of the first version, until it registers again.

Revision: 20261130_10
Follows: 20261129_02
"""

import sqlalchemy as sa
from alembic import op

revision = "20261130_10"
down_revision = "20261129_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "replica_groups",
        sa.Column("protocol_version", sa.Integer(), nullable=False, server_default="1"),
    )
    op.add_column("replica_groups", sa.Column("version_limit", sa.Integer()))
    op.add_column("replicas", sa.Column("protocol_version", sa.Integer()))
    op.execute("UPDATE replicas SET protocol_version = 1")


def downgrade() -> None:
    op.drop_column("replicas", "protocol_version")
    op.drop_column("replica_groups", "version_limit")
    op.drop_column("replica_groups", "protocol_version")
