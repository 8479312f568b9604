"""Note when segments are seen empty, and keep what checks suspect of topics too.

Revision: 20261128_50
Follows: 20261128_40
"""

import sqlalchemy as sa
from alembic import op

revision = "20261128_50"
down_revision = "20261128_40"
branch_labels = None
depends_on = None

SEGMENTS, EMPTY_SINCE = "logical_queue_segments", "empty_since"
CONTRADICTIONS, SUSPICIONS = "member_contradictions", "suspicions"
CONSUMER_GROUP, SUBJECT = "consumer_group_name", "subject"


def upgrade() -> None:
    op.add_column(SEGMENTS, sa.Column(EMPTY_SINCE, sa.TIMESTAMP(timezone=True)))
    _rename(CONTRADICTIONS, SUSPICIONS)
    op.alter_column(SUSPICIONS, CONSUMER_GROUP, new_column_name=SUBJECT)


def downgrade() -> None:
    op.execute("DELETE FROM suspicions WHERE code = 'static_topic_differs'")
    op.alter_column(SUSPICIONS, SUBJECT, new_column_name=CONSUMER_GROUP)
    _rename(SUSPICIONS, CONTRADICTIONS)
    op.drop_column(SEGMENTS, EMPTY_SINCE)


def _rename(before: str, after: str) -> None:
    op.rename_table(before, after)
    op.execute(f"ALTER TABLE {after} RENAME CONSTRAINT pk_{before} TO pk_{after}")
