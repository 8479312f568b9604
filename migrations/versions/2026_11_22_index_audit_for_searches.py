"""Index the audit for searches by what was done, and when.

Revision: 20261122_09
Follows: 20261122_08
"""

from alembic import op

revision = "20261122_09"
down_revision = "20261122_08"
branch_labels = None
depends_on = None

_TABLE = "audit_entries"


def upgrade() -> None:
    op.create_index(
        op.f("ix_audit_entries_action_number"),
        _TABLE,
        ["action", "number"],
        postgresql_ops={"action": "text_pattern_ops"},
    )
    op.create_index(op.f("ix_audit_entries_happened_at"), _TABLE, ["happened_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_audit_entries_happened_at"), _TABLE)
    op.drop_index(op.f("ix_audit_entries_action_number"), _TABLE)
