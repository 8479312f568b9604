"""Let one operation change the logical queues of several static topics.

Revision: 20261128_40
Follows: 20261128_30
"""

from alembic import op

revision = "20261128_40"
down_revision = "20261128_30"
branch_labels = None
depends_on = None

TABLE = "logical_queue_changes"
KEY = "pk_logical_queue_changes"


def upgrade() -> None:
    op.drop_constraint(KEY, TABLE, type_="primary")
    op.create_primary_key(KEY, TABLE, ["id", "topic_name"])


def downgrade() -> None:
    op.drop_constraint(KEY, TABLE, type_="primary")
    op.create_primary_key(KEY, TABLE, ["id"])
