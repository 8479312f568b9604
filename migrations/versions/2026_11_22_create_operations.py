"""Create operations with their journal, the outbox, idempotency keys and the audit.

Revision: 20261122_01
Follows: 20261121_05
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261122_01"
down_revision = "20261121_05"
branch_labels = None
depends_on = None


def _instant(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _operation_key(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["operation_id"],
        ["operations.id"],
        name=op.f(f"fk_{table}_operation_id_operations"),
        ondelete="CASCADE",
    )


def upgrade() -> None:
    _create_operations()
    op.create_table(
        "operation_steps",
        sa.Column("operation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _text("name"),
        _text("title"),
        _text("state"),
        sa.Column("attempt_count", sa.Integer(), nullable=False),
        sa.Column("before", JSONB(), nullable=True),
        sa.Column("after", JSONB(), nullable=True),
        _text("error", nullable=True),
        _instant("began_at"),
        _instant("ended_at"),
        sa.CheckConstraint(
            "state IN ('pending', 'running', 'done', 'failed', 'unknown')",
            name=op.f("ck_operation_steps_state"),
        ),
        _operation_key("operation_steps"),
        sa.PrimaryKeyConstraint("operation_id", "position", name=op.f("pk_operation_steps")),
    )
    op.create_table(
        "outbox",
        sa.Column("operation_id", sa.Uuid(), nullable=False),
        _text("task_name"),
        _instant("due_at", nullable=False),
        _operation_key("outbox"),
        sa.PrimaryKeyConstraint("operation_id", name=op.f("pk_outbox")),
    )
    op.create_index(op.f("ix_outbox_due_at"), "outbox", ["due_at"])
    op.create_table(
        "idempotency_keys",
        _text("user_name"),
        _text("key"),
        sa.Column("request_hash", sa.LargeBinary(), nullable=False),
        sa.Column("operation_id", sa.Uuid(), nullable=False),
        _instant("created_at", nullable=False),
        _operation_key("idempotency_keys"),
        sa.PrimaryKeyConstraint("user_name", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_operation_id"), "idempotency_keys", ["operation_id"])
    _create_audit()


def _create_operations() -> None:
    op.create_table(
        "operations",
        sa.Column("id", sa.Uuid(), nullable=False),
        _text("kind"),
        _text("cluster_name"),
        _text("target"),
        _text("state"),
        sa.Column("parameters", JSONB(), nullable=False),
        sa.Column("plan", JSONB(), nullable=False),
        _text("requested_by"),
        _instant("planned_at", nullable=False),
        _instant("expires_at", nullable=False),
        _text("wish", nullable=True),
        _text("reason", nullable=True),
        _text("confirmed_by", nullable=True),
        _instant("confirmed_at"),
        _instant("not_before"),
        _instant("ended_at"),
        _text("outcome", nullable=True),
        sa.Column("read_back", JSONB(), nullable=False),
        sa.Column("undoes", sa.Uuid(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        _instant("lease_until"),
        sa.CheckConstraint(
            "state IN ('planned', 'queued', 'running', 'paused', 'done', 'partly', 'failed',"
            " 'unknown', 'cancelled', 'lapsed', 'undone')",
            name=op.f("ck_operations_state"),
        ),
        sa.CheckConstraint("wish IN ('pause', 'cancel')", name=op.f("ck_operations_wish")),
        sa.ForeignKeyConstraint(
            ["undoes"], ["operations.id"], name=op.f("fk_operations_undoes_operations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
    )
    op.create_index(op.f("ix_operations_planned_at_id"), "operations", ["planned_at", "id"])
    op.create_index(
        op.f("ix_operations_cluster_name_planned_at_id"),
        "operations",
        ["cluster_name", "planned_at", "id"],
    )
    op.create_index(op.f("ix_operations_undoes"), "operations", ["undoes"])
    op.create_index(
        op.f("ix_operations_expires_at"),
        "operations",
        ["expires_at"],
        postgresql_where=sa.text("state = 'planned'"),
    )


def _create_audit() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        _instant("happened_at", nullable=False),
        _text("actor"),
        _text("source"),
        _text("action"),
        _text("cluster_name"),
        _text("subject"),
        sa.Column("operation_id", sa.Uuid(), nullable=True),
        _text("details"),
        sa.Column("previous_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_audit_entries_number")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_entries")),
    )
    for column in ("operation_id", "actor", "cluster_name"):
        op.create_index(
            op.f(f"ix_audit_entries_{column}_number"), "audit_entries", [column, "number"]
        )


def downgrade() -> None:
    for table in ("audit_entries", "idempotency_keys", "outbox", "operation_steps", "operations"):
        op.drop_table(table)
