"""Let steps of operations wait for others.

Revision: 20261122_02
Follows: 20261122_01
"""

from alembic import op

revision = "20261122_02"
down_revision = "20261122_01"
branch_labels = None
depends_on = None

_TABLE, _NAME = "operation_steps", "ck_operation_steps_state"


def upgrade() -> None:
    op.drop_constraint(op.f(_NAME), _TABLE, type_="check")
    op.create_check_constraint(
        op.f(_NAME),
        _TABLE,
        "state IN ('pending', 'running', 'waiting', 'done', 'failed', 'unknown')",
    )


def downgrade() -> None:
    op.execute("UPDATE operation_steps SET state = 'pending' WHERE state = 'waiting'")
    op.drop_constraint(op.f(_NAME), _TABLE, type_="check")
    op.create_check_constraint(
        op.f(_NAME), _TABLE, "state IN ('pending', 'running', 'done', 'failed', 'unknown')"
    )
