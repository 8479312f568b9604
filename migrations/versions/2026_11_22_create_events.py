"""Create the event stream.

Revision: 20261122_05
Follows: 20261122_01
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261122_05"
down_revision = "20261122_04"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "staged_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        *_what_happened(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_staged_events")),
    )
    op.create_table(
        "events",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        *_what_happened(),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_events")),
    )
    op.create_table(
        "event_stream",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("newest_number", sa.BigInteger(), nullable=False),
        sa.Column("expired_number", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_event_stream_single")),
        sa.CheckConstraint(
            "0 <= expired_number AND expired_number <= newest_number",
            name=op.f("ck_event_stream_numbers"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_stream")),
    )
    op.execute("INSERT INTO event_stream (id, newest_number, expired_number) VALUES (1, 0, 0)")


def _what_happened() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("cluster_name", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("details", JSONB(), nullable=False),
        sa.Column("operation_id", sa.Uuid(), nullable=True),
    )


def downgrade() -> None:
    for table in ("event_stream", "events", "staged_events"):
        op.drop_table(table)
