"""Postgres chooses the rows that the rule lets pass, and no others."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import String, and_, literal_column, select, true, values
from sqlalchemy import column as named

from backend.db.cluster_scope import reached
from backend.domain.cluster_scope import ClusterScope, check_patterns

LETTERS = "ab%_|.-A"
NAMES = st.text(LETTERS, min_size=1, max_size=5)
PATTERNS = st.lists(st.text(LETTERS + "**", min_size=1, max_size=5), min_size=1, max_size=3)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(NAMES, min_size=1, max_size=20), limits=st.lists(PATTERNS, max_size=2))
async def test_rows_are_chosen_as_the_rule_decides(database, names, limits):
    scope = ClusterScope.of(*(check_patterns(one) for one in limits))
    table = values(named("name", String), name="asked").data([(name,) for name in names])
    statement = select(literal_column("name")).select_from(table)
    chosen = statement.where(and_(true(), *reached(scope, table.c.name)))

    async with database.connect() as connection:
        found = (await connection.execute(chosen)).scalars().all()

    assert sorted(found) == sorted(name for name in names if scope.includes(name))
