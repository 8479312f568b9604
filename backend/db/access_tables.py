"""Declare the tables of access: users, their open sessions, and their API tokens."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY

from backend.db.schema import instant, metadata

users = Table(
    "users",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("password_hash", Text, nullable=False),
    Column("role", Text, nullable=False),
    # The role is valid in clusters whose name fits one of them; `{*}` is all clusters.
    Column("cluster_patterns", ARRAY(Text), nullable=False, server_default="{*}"),
    instant("created_at"),
    instant("disabled_at", nullable=True),
    # Not null while the password is a one-time password, which must be replaced before.
    instant("password_expires_at", nullable=True),
    CheckConstraint("role IN ('admin', 'operator', 'viewer')", name="role"),
)


def _user_id() -> Column[int]:
    return Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), nullable=False)


# Only hashes are stored: a reader of these tables can't sign in with their content.
sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("id", Uuid, nullable=False, unique=True),
    _user_id(),
    Column("source", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
    instant("created_at"),
    instant("last_used_at"),
    instant("expires_at"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Uuid, primary_key=True),
    _user_id(),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("cluster_patterns", ARRAY(Text), nullable=False),
    Column("is_read_only", Boolean, nullable=False),
    instant("created_at"),
    instant("expires_at"),
    instant("last_used_at", nullable=True),
    Column("last_used_from", Text),
    UniqueConstraint("user_id", "name"),
    CheckConstraint("role IN ('admin', 'operator', 'viewer')", name="role"),
)
