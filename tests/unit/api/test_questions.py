"""Both doors are made from what a question declares."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import strawberry
from fastapi import FastAPI
from strawberry.schema.config import StrawberryConfig

from backend.api.graphql import views
from backend.api.graphql.scalars import INT64, Int64
from backend.api.rest.questions import _endpoint
from backend.api.supplies import SUPPLIES
from backend.domain.access import Permission, Reach
from backend.domain.page import Page
from backend.questions import list_questions
from backend.questions.question import After, Given, Limit, question
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


def test_whatever_a_question_is_supplied_with_is_known():
    names = {name for one in list_questions() for name in one.supplied}

    assert names
    assert names <= set(SUPPLIES)


def test_every_question_has_an_address_of_its_own():
    paths = [one.path for one in list_questions()]
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
