"""Every route and every field is a question, or is named as written by hand; gaps have reasons."""

from backend.api.graphql.schema import build_schema
from backend.questions import list_questions
from tests.access_table import SIGN_IN, graph_doors, rest_doors
from tests.door_matrix import PAGE, REASONS, V1, rewritten, rows


def test_every_route_is_a_question_or_is_named_as_written_by_hand():
    routes = {f"{door.method} {door.name.removeprefix(V1)}" for door in rest_doors()}
    routes.add(f"{SIGN_IN[0]} {SIGN_IN[1].removeprefix(V1)}")

    named = [row.route for row in rows() if row.route is not None]

    assert set(named) == routes
    assert len(named) == len(set(named)) > 70


def test_every_field_of_the_graph_is_a_question_or_is_named_as_written_by_hand():
    fields = {door.name for door in graph_doors()}

    named = [row.field for row in rows() if row.field is not None and "." not in row.field]

    assert set(named) == fields
    assert len(named) == len(set(named)) > 50


def test_every_relation_that_answers_a_question_is_in_the_graph():
    types = build_schema()._schema.type_map
    relations = [one.field.split(".") for one in list_questions() if one.field and "." in one.field]

    assert [name for kind, name in relations if name not in types[kind].fields] == []
    assert len(relations) > 10


def test_what_lacks_a_route_or_a_field_has_a_reason_and_nothing_else_has_one():
    lacking = [row for row in rows() if row.route is None or row.field is None]

    assert [row for row in lacking if row.why_not is None] == []
    assert [row for row in rows() if row not in lacking and row.why_not is not None] == []
    assert REASONS.keys() <= {name for row in lacking for name in (row.route, row.field)}


def test_every_route_has_a_command():
    assert [row.route for row in rows() if row.route and not row.is_in_cli] == []


def test_the_page_says_what_the_doors_reach():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make matrix`"
