"""Every field that a door shows or takes has a description."""

import json

from graphql import build_schema
from graphql.type import is_input_object_type, is_object_type

from tests.language import OPENAPI, SCHEMA

GIVEN_BY_UNDO = {"GroupSettings", "TopicLayout"}
"""Parameters that only an undo gives. No form and no command shows their fields."""


def list_without_text_in_rest(document) -> list[str]:
    return [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        if name not in GIVEN_BY_UNDO
        for field, described in schema.get("properties", {}).items()
        if not described.get("description")
    ]


def list_without_text_in_graph(schema) -> list[str]:
    shown = [
        one
        for one in schema.type_map.values()
        if (is_object_type(one) or is_input_object_type(one)) and not one.name.startswith("__")
    ]
    return [
        f"{one.name}.{name}"
        for one in shown
        for name, field in one.fields.items()
        if not field.description
    ]


def test_every_field_of_the_openapi_document_has_a_description():
    document = json.loads(OPENAPI.read_text())

    assert list_without_text_in_rest(document) == []


def test_every_field_of_the_graph_has_a_description():
    schema = build_schema(SCHEMA.read_text())

    assert list_without_text_in_graph(schema) == []


def test_a_field_without_a_description_is_found():
    document = {"components": {"schemas": {"Shelf": {"properties": {"weight": {}}}}}}
    schema = build_schema("type Query { shelf(room: String): Int }\ninput Shelf { weight: Int }")

    assert list_without_text_in_rest(document) == ["Shelf.weight"]
    assert list_without_text_in_graph(schema) == ["Query.shelf", "Shelf.weight"]
