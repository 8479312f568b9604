"""Hold the collection that every table belongs to, and the column that tables share.

Constraint names follow one convention, so that a migration can name what it drops.
"""

from sqlalchemy import Column, DateTime, MetaData

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def instant(name: str, *, nullable: bool = False) -> Column[object]:
    """Make a column of aware instants."""
    return Column(name, DateTime(timezone=True), nullable=nullable)
