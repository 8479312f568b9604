"""Declare the tables of operations: states and journals, the outbox, protections, the audit."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from backend.db.schema import instant, metadata

# Every change of a cluster, from its plan to its outcome (D19).
operations = Table(
    "operations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("parameters", JSONB, nullable=False),
    Column("plan", JSONB, nullable=False),
    Column("requested_by", Text, nullable=False),
    instant("planned_at"),
    instant("expires_at"),
    Column("wish", Text),
    Column("reason", Text),
    Column("confirmed_by", Text),
    instant("confirmed_at", nullable=True),
    # The second person who approved or declined it.
    Column("reviewed_by", Text),
    Column("review_reason", Text),
    instant("not_before", nullable=True),
    instant("ended_at", nullable=True),
    Column("outcome", Text),
    Column("read_back", JSONB, nullable=False),
    Column("undoes", Uuid, ForeignKey("operations.id")),
    # Grows with every claim; a worker with an older number is refused.
    Column("fence", BigInteger, nullable=False),
    instant("lease_until", nullable=True),
    CheckConstraint(
        "state IN ('planned', 'awaiting_approval', 'queued', 'running', 'paused', 'done',"
        " 'partly', 'failed', 'unknown', 'cancelled', 'lapsed', 'undone')",
        name="state",
    ),
    CheckConstraint("wish IN ('pause', 'cancel')", name="wish"),
    Index(None, "planned_at", "id"),
    Index(None, "cluster_name", "planned_at", "id"),
    Index(None, "undoes"),
    Index(None, "fence"),
    Index(None, "expires_at", postgresql_where=text("state IN ('planned', 'awaiting_approval')")),
)

operation_steps = Table(
    "operation_steps",
    metadata,
    Column("operation_id", Uuid, ForeignKey("operations.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt_count", Integer, nullable=False),
    Column("before", JSONB(none_as_null=True)),
    Column("after", JSONB(none_as_null=True)),
    Column("error", Text),
    instant("began_at", nullable=True),
    instant("ended_at", nullable=True),
    CheckConstraint(
        "state IN ('pending', 'running', 'waiting', 'done', 'failed', 'unknown')", name="state"
    ),
)

# The operations that need a worker, and when to send the message; written with the change.
outbox = Table(
    "outbox",
    metadata,
    Column("operation_id", Uuid, ForeignKey("operations.id", ondelete="CASCADE"), primary_key=True),
    Column("task_name", Text, nullable=False),
    instant("due_at"),
    Index(None, "due_at"),
)

# Objects that must not be deleted, by name: no object of the name needs to be registered.
protections = Table(
    "protections",
    metadata,
    Column("cluster_name", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("protected_by", Text, nullable=False),
    instant("protected_at"),
    Column("reason", Text),
    CheckConstraint("kind IN ('topic', 'consumer_group', 'broker')", name="kind"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("user_name", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_hash", LargeBinary, nullable=False),
    Column("operation_id", Uuid, ForeignKey("operations.id", ondelete="CASCADE"), nullable=False),
    instant("created_at"),
    Index(None, "operation_id"),
)

# Actions of users, each row bound to the row before by its hash; `details` is JSON as it was
# hashed.
audit_entries = Table(
    "audit_entries",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    instant("happened_at"),
    Column("actor", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("operation_id", Uuid),
    Column("details", Text, nullable=False),
    Column("previous_hash", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    CheckConstraint("number >= 1", name="number"),
    Index(None, "operation_id", "number"),
    Index(None, "actor", "number"),
    Index(None, "action", "number", postgresql_ops={"action": "text_pattern_ops"}),
    Index(None, "happened_at"),
    Index(None, "cluster_name", "number"),
)
