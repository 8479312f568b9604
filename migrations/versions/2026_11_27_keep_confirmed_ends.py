"""Keep what masters reported as confirmed, so that no log which lacks it is elected (D27).

A group that is removed leaves it with its name, for the adoption that may follow.

Revision: 20261127_02
Follows: 20261127_01
"""

import sqlalchemy as sa
from alembic import op

revision = "20261127_02"
down_revision = "20261127_01"
branch_labels = None
depends_on = None

UNKNOWN = "-1"


def upgrade() -> None:
    for table in ("replica_groups", "broker_groups"):
        _add(table, "confirmed_epoch", sa.Integer(), UNKNOWN)
        _add(table, "confirmed_position", sa.BigInteger(), UNKNOWN)
    _add("replica_groups", "loss_epoch", sa.Integer(), "0")
    _add("replica_groups", "member_lives", sa.ARRAY(sa.BigInteger()), "{}")
    _add("replica_sightings", "life", sa.BigInteger(), "0")
    _add("replica_sightings", "confirm_epoch", sa.Integer(), UNKNOWN)
    _add("replica_sightings", "refused_cut", sa.BigInteger(), UNKNOWN)


def downgrade() -> None:
    for column in ("refused_cut", "confirm_epoch", "life"):
        op.drop_column("replica_sightings", column)
    for column in ("member_lives", "loss_epoch", "confirmed_position", "confirmed_epoch"):
        op.drop_column("replica_groups", column)
    for column in ("confirmed_position", "confirmed_epoch"):
        op.drop_column("broker_groups", column)


def _add(table: str, column: str, kind: sa.types.TypeEngine[object], default: str) -> None:
    op.add_column(table, sa.Column(column, kind, nullable=False, server_default=default))
