from pathlib import Path

from backend.api.graphql import schema

COMMITTED = Path(schema.__file__).with_name("schema.graphql")


def test_the_committed_schema_is_the_one_that_is_served():
    hint = "run: python -m backend.api.graphql > backend/api/graphql/schema.graphql"

    assert COMMITTED.read_text() == schema.print_schema(), hint
