"""Let operations wait for a second person, and keep who that was.

Revision: 20261123_02
Follows: 20261123_01
"""

import sqlalchemy as sa
from alembic import op

revision = "20261123_02"
down_revision = "20261123_01"
branch_labels = None
depends_on = None

_TABLE, _STATE = "operations", "ck_operations_state"
_INDEX = "ix_operations_expires_at"
_STATES = (
    "'queued', 'running', 'paused', 'done', 'partly', 'failed', 'unknown', 'cancelled', 'lapsed',"
    " 'undone'"
)


def upgrade() -> None:
    op.add_column(_TABLE, sa.Column("reviewed_by", sa.Text(), nullable=True))
    op.add_column(_TABLE, sa.Column("review_reason", sa.Text(), nullable=True))
    op.drop_constraint(op.f(_STATE), _TABLE, type_="check")
    op.create_check_constraint(
        op.f(_STATE), _TABLE, f"state IN ('planned', 'awaiting_approval', {_STATES})"
    )
    op.drop_index(op.f(_INDEX), _TABLE)
    op.create_index(
        op.f(_INDEX),
        _TABLE,
        ["expires_at"],
        postgresql_where=sa.text("state IN ('planned', 'awaiting_approval')"),
    )


def downgrade() -> None:
    # A program that knows no second person would never end these.
    op.execute(
        "UPDATE operations SET state = 'cancelled', ended_at = now(),"
        " outcome = 'cancelled: its approval was still awaited'"
        " WHERE state = 'awaiting_approval'"
    )
    op.drop_index(op.f(_INDEX), _TABLE)
    op.create_index(
        op.f(_INDEX), _TABLE, ["expires_at"], postgresql_where=sa.text("state = 'planned'")
    )
    op.drop_constraint(op.f(_STATE), _TABLE, type_="check")
    op.create_check_constraint(op.f(_STATE), _TABLE, f"state IN ('planned', {_STATES})")
    op.drop_column(_TABLE, "review_reason")
    op.drop_column(_TABLE, "reviewed_by")
