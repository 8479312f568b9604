"""Hold the metadata of all tables, and their common column type.

Constraint names follow one convention, so that migrations can name them.
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
    """Make a column of instants with time zone."""
    return Column(name, DateTime(timezone=True), nullable=nullable)
