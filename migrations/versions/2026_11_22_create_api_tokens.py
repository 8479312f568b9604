"""Create API tokens, describe sessions, and let users be operators, disabled and newly added.

Revision: 20261122_04
Follows: 20261122_01
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "20261122_04"
down_revision = "20261122_03"
branch_labels = None
depends_on = None

_ROLES = "role IN ('admin', 'operator', 'viewer')"


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.drop_constraint(op.f("ck_users_role"), "users", type_="check")
    op.create_check_constraint(op.f("ck_users_role"), "users", _ROLES)
    op.add_column("users", _instant("disabled_at", nullable=True))
    op.add_column("users", _instant("password_expires_at", nullable=True))
    _describe_sessions()
    _create_api_tokens()


def _describe_sessions() -> None:
    # For earlier sessions it is unknown where they were opened; they end within hours.
    op.add_column("sessions", sa.Column("id", sa.Uuid(), nullable=True))
    op.add_column("sessions", sa.Column("source", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("user_agent", sa.Text(), nullable=True))
    op.add_column("sessions", _instant("last_used_at", nullable=True))
    op.execute(
        "UPDATE sessions SET id = gen_random_uuid(), source = 'unknown', user_agent = '',"
        " last_used_at = created_at"
    )
    for name in ("id", "source", "user_agent", "last_used_at"):
        op.alter_column("sessions", name, nullable=False)
    op.create_unique_constraint(op.f("uq_sessions_id"), "sessions", ["id"])


def _create_api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("cluster_patterns", ARRAY(sa.Text()), nullable=False),
        sa.Column("is_read_only", sa.Boolean(), nullable=False),
        _instant("created_at"),
        _instant("expires_at"),
        _instant("last_used_at", nullable=True),
        sa.Column("last_used_from", sa.Text(), nullable=True),
        sa.CheckConstraint(_ROLES, name=op.f("ck_api_tokens_role")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_api_tokens_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_api_tokens_user_id_name")),
    )


def downgrade() -> None:
    op.drop_table("api_tokens")
    for name in ("id", "source", "user_agent", "last_used_at"):
        op.drop_column("sessions", name)
    # Users that the older rules do not know are refused, and get no further access.
    op.execute("DELETE FROM users WHERE disabled_at IS NOT NULL OR password_expires_at IS NOT NULL")
    op.drop_column("users", "password_expires_at")
    op.drop_column("users", "disabled_at")
    op.execute("UPDATE users SET role = 'viewer' WHERE role = 'operator'")
    op.drop_constraint(op.f("ck_users_role"), "users", type_="check")
    op.create_check_constraint(op.f("ck_users_role"), "users", "role IN ('admin', 'viewer')")
