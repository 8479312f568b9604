"""Both doors are made from what a question declares."""

from dataclasses import dataclass, replace
from typing import Annotated, get_args

import pytest
import strawberry
from fastapi import FastAPI
from strawberry.schema.config import StrawberryConfig

from backend.api.graphql import views
from backend.api.graphql.questions import _question_field
from backend.api.graphql.scalars import INT64, Int64
from backend.api.rest.questions import _endpoint, _parameters
from backend.api.supplies import SUPPLIES
from backend.domain.access import Permission, Reach
from backend.domain.page import Page
from backend.questions import list_questions
from backend.questions.question import FLAT, After, Fifty, Given, Limit, gather, question
from backend.views.graph_forms import Int64 as Long
from backend.views.graph_forms import Pairs, in_graph


@in_graph("Shelf")
@dataclass(frozen=True, slots=True)
class ShelfOut:
    """A shelf."""

    weight: Long
    labels: Annotated[dict[str, str], Pairs("ShelfLabel", "name", "value")]


@question(
    "/rooms/{room_name}/shelves",
    field="shelves",
    tag="rooms",
    permission=Permission.READ_ACCESS,
    reach=Reach.KEPT,
)
async def show_shelves(
    room_name: str,
    height: Annotated[int, Given("In shelves.", low=1, high=9, rest_name="tall")] = 3,
    limit: Limit = 10,
    after: After[str] = None,
    *,
    database: str,
) -> Page[ShelfOut, str]:
    """List shelves."""
    raise NotImplementedError


@in_graph("BookFilter")
@dataclass(frozen=True, slots=True)
class BookChoice:
    """Say which books are meant."""

    colour: Annotated[str | None, Given(length_max=7)] = None
    is_thick: bool = False


@dataclass(frozen=True, slots=True)
class BooksOut:
    """The books of a room."""

    titles: list[str]
    count: int


@question("/books", field="books", tag="books", graph_part="titles")
async def show_books(
    limit: Fifty = 100,
    language: Annotated[str, Given(choices=("en", "de"))] = "en",
    page: Annotated[int, Given(is_optional_in_graph=True)] = 1,
    chosen: Annotated[BookChoice, Given(is_optional_in_graph=True)] = BookChoice(),
    other: Annotated[BookChoice, FLAT] = BookChoice(),
    *,
    clock: str,
) -> BooksOut:
    """List books."""
    raise NotImplementedError


def test_the_graph_takes_a_choice_as_an_input_or_its_fields_and_shows_a_part():
    @strawberry.type
    class Query:
        books = _question_field(show_books)

    assert str(strawberry.Schema(Query)) == (
        "input BookFilter {\n  colour: String = null\n  isThick: Boolean! = false\n}\n\n"
        'type Query {\n  """List books."""\n'
        '  books(first: Int! = 50, language: String! = "en", page: Int = null, '
        "chosen: BookFilter = null, colour: String = null, isThick: Boolean! = false): "
        "[String!]!\n}"
    )


def test_the_fields_of_a_choice_are_parameters_over_rest_and_choices_are_listed():
    given = {one.name: one for one in _parameters(replace(show_books, path="/books"))}

    assert list(given) == ["limit", "language", "page", "colour", "is_thick"]
    kind, described = get_args(given["language"].annotation)
    assert (kind, described.json_schema_extra) == (str, {"enum": ["en", "de"]})


def test_what_a_door_takes_one_by_one_is_put_together():
    values = {"limit": 3, "colour": "red"}

    wanted = gather(show_books.given, values)

    assert wanted == {"limit": 3, "chosen": BookChoice("red"), "other": BookChoice("red")}
    assert gather(show_books.given, {"chosen": "x", "other": "y"}) == {"chosen": "x", "other": "y"}


def test_whatever_a_question_is_supplied_with_is_known():
    names = {name for one in list_questions() for name in one.supplied}

    assert names
    assert names <= set(SUPPLIES)


def test_every_question_has_a_distinct_address():
    paths = [one.path for one in list_questions() if one.path is not None]
    fields = [one.field for one in list_questions() if one.field is not None]

    assert len(paths) == len(set(paths)) > 20
    assert len(fields) == len(set(fields)) > 10


def test_a_question_says_what_its_caller_gives_and_what_it_is_supplied_with():
    assert [one.name for one in show_shelves.given] == ["room_name", "height", "limit", "after"]
    assert show_shelves.supplied == ["database"]
    assert show_shelves.name == "show_shelves"


def test_a_route_has_the_parameters_and_bounds_of_its_question():
    app = FastAPI()
    app.add_api_route(show_shelves.path, _endpoint(show_shelves))

    route = app.openapi()["paths"][show_shelves.path]["get"]

    assert route["description"] == "List shelves."
    given = {one["name"]: one for one in route["parameters"]}
    assert list(given) == ["room_name", "tall", "limit", "after"]
    assert given["room_name"]["in"] == "path"
    assert given["tall"]["description"] == "In shelves."
    assert (given["tall"]["schema"]["minimum"], given["tall"]["schema"]["maximum"]) == (1, 9)


@pytest.mark.parametrize("weight", [0, 2**60])
def test_the_graph_writes_a_view_with_long_numbers_as_texts_and_a_mapping_as_pairs(weight):
    @strawberry.type
    class Query:
        @views.shows(ShelfOut)
        def shelf(self) -> ShelfOut:
            return ShelfOut(weight, {"colour": "red"})

    schema = strawberry.Schema(Query, config=StrawberryConfig(scalar_map={Int64: INT64}))
    found = schema.execute_sync("{ shelf { __typename weight labels { name value } } }")

    assert found.errors is None
    assert found.data["shelf"] == {
        "__typename": "Shelf",
        "weight": str(weight),
        "labels": [{"name": "colour", "value": "red"}],
    }
