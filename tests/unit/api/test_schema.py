from pathlib import Path

from backend.api import rest
from backend.api.app import print_openapi
from backend.api.graphql import schema

COMMITTED = Path(schema.__file__).with_name("schema.graphql")
OPENAPI = Path(rest.__file__).with_name("openapi.json")


def test_the_committed_openapi_document_is_the_one_that_is_served():
    hint = "run: python -m backend.api.rest > backend/api/rest/openapi.json"

    assert OPENAPI.read_text() == print_openapi(), hint


def test_the_committed_schema_is_the_one_that_is_served():
    hint = "run: python -m backend.api.graphql > backend/api/graphql/schema.graphql"

    assert COMMITTED.read_text() == schema.print_schema(), hint
