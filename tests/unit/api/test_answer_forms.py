"""What a question finds is shown by both doors, each in its own form."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated

import pytest
import strawberry
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from strawberry.schema.config import StrawberryConfig

from backend.api.answer_forms import formed
from backend.api.graphql import pages as graph_pages
from backend.api.graphql import views
from backend.api.graphql.questions import add_relations, relation
from backend.api.graphql.scalars import INT64, Int64
from backend.api.rest import pages as rest_pages
from backend.api.rest.models import answer_model, has_version
from backend.domain.broker import BrokerRole
from backend.domain.page import Page
from backend.views.graph_forms import (
    GraphId,
    NamedInGraph,
    NotShown,
    RestOnly,
    RestText,
    Text,
    Version,
)
from backend.views.observed_pages import EndlessPage, ObservedPage

AT = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BoxOut:
    """A box."""

    id: GraphId
    secret: NotShown[str]
    name: Annotated[str, NamedInGraph("label")]
    role: RestText[BrokerRole]
    weight: RestOnly[int]
    version: Version


@dataclass(frozen=True, slots=True)
class RoomOut:
    """A room with boxes."""

    boxes: list[BoxOut]


@dataclass(frozen=True, slots=True)
class BoxesOut(ObservedPage[BoxOut, BoxOut]):
    """One page of boxes."""


@dataclass(frozen=True, slots=True)
class NewBoxesOut(ObservedPage[BoxOut, BoxOut]):
    """One page of boxes that go on coming."""

    is_endless = True


@relation(BoxOut)
async def content(box: BoxOut, _info: object, times: int = 1) -> str:
    """Show what is in a box."""
    return box.secret * times


@dataclass(frozen=True, slots=True)
class CrateOut:
    """A crate, whose fields say what they mean."""

    name: Annotated[str, NamedInGraph("label"), Text("Word on the crate.")]
    weight: RestOnly[Annotated[int, Text("Weight in kilograms.")]]


@relation(CrateOut)
async def weight(crate: CrateOut, _info: object) -> int:
    """Weigh the crate."""
    return crate.weight


@relation(CrateOut)
async def depth(_crate: CrateOut, _info: object) -> int:
    """Measure the crate."""
    return 1


add_relations([content, weight, depth])

BOX = BoxOut(7, "tea", "blue", BrokerRole.MASTER, 3, "v1")
IN_REST = {"name": "blue", "role": "master", "weight": 3}
PAGE = Page((BOX,), ("blue",), 9)
ANSWERS = [
    (BoxOut, BOX, IN_REST),
    (RoomOut, RoomOut([BOX]), {"boxes": [IN_REST]}),
    (list[BoxOut], [BOX], [IN_REST]),
    (Page[BoxOut, str], PAGE, {"items": [IN_REST], "next": "WyJibHVlIl0", "total_count": 9}),
    (
        BoxesOut,
        BoxesOut(PAGE, [BOX], AT),
        {
            "items": [IN_REST],
            "next": "WyJibHVlIl0",
            "total_count": 9,
            "unknown": [IN_REST],
            "observed_at": "2026-01-02T00:00:00Z",
        },
    ),
    (
        NewBoxesOut,
        NewBoxesOut(EndlessPage((BOX,), ("blue",), has_more=False), [], AT),
        {
            "items": [IN_REST],
            "next": "WyJibHVlIl0",
            "has_more": False,
            "unknown": [],
            "observed_at": "2026-01-02T00:00:00Z",
        },
    ),
]


@pytest.mark.parametrize(("kind", "found", "shown"), ANSWERS, ids=[str(one[0]) for one in ANSWERS])
async def test_rest_shows_the_fields_that_are_its_own(kind, found, shown):
    app = FastAPI()

    @app.get("/", response_model=answer_model(kind))
    async def show():
        return formed(found, rest_pages.page_fields)

    async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        answer = await client.get("/")

    assert answer.json() == shown


def test_both_doors_say_of_a_field_what_the_view_says():
    @strawberry.type
    class Query:
        @views.shows(CrateOut)
        def crate(self):
            return CrateOut("blue", 3)

    app = FastAPI()

    @app.get("/", response_model=answer_model(CrateOut))
    async def show():
        return CrateOut("blue", 3)

    in_rest = app.openapi()["components"]["schemas"]["CrateOut"]["properties"]
    written = str(strawberry.Schema(Query)).splitlines()
    in_graph = dict(pairwise(line.strip() for line in written))

    assert in_rest["name"]["description"] == "Word on the crate."
    assert in_rest["weight"]["description"] == "Weight in kilograms."
    assert in_graph['"""Word on the crate."""'] == "label: String!"
    assert in_graph['"""Weight in kilograms."""'] == "weight: Int!"
    assert in_graph['"""Measure the crate."""'] == "depth: Int!"


def test_a_version_is_found_in_a_view_alone():
    assert has_version(BoxOut)
    assert not has_version(RoomOut)
    assert not has_version(Page[BoxOut, str])


async def test_the_graph_shows_pages_of_views_with_their_relations():
    @strawberry.type
    class Query:
        @views.shows(BoxesOut)
        def boxes(self):
            return formed(BoxesOut(PAGE, [], AT), graph_pages.page_fields)

        @views.shows(NewBoxesOut)
        def new_boxes(self):
            page = EndlessPage((BOX,), ("blue",), has_more=True)
            return formed(NewBoxesOut(page, [], AT), graph_pages.page_fields)

        @views.shows(Page[BoxOut, str])
        def plain(self):
            return formed(PAGE, graph_pages.page_fields)

    schema = strawberry.Schema(Query, config=StrawberryConfig(scalar_map={Int64: INT64}))
    info = "pageInfo { hasNextPage endCursor }"
    found = await schema.execute(f"""{{
      boxes {{ nodes {{ id label role version content(times: 2) }} {info} totalCount observedAt }}
      newBoxes {{ nodes {{ label }} {info} unknown {{ label }} }}
      plain {{ nodes {{ label }} totalCount }}
    }}""")

    assert found.errors is None
    after = {"hasNextPage": True, "endCursor": "WyJibHVlIl0"}
    box = {"id": "7", "label": "blue", "role": "MASTER", "version": "v1", "content": "teatea"}
    assert found.data["boxes"] == {
        "nodes": [box],
        "pageInfo": after,
        "totalCount": 9,
        "observedAt": "2026-01-02T00:00:00+00:00",
    }
    assert found.data["newBoxes"] == {
        "nodes": [{"label": "blue"}],
        "pageInfo": after,
        "unknown": [],
    }
    assert found.data["plain"] == {"nodes": [{"label": "blue"}], "totalCount": 9}


def test_the_graph_has_no_field_that_is_of_rest_or_of_neither_door():
    fields = {one.python_name for one in views.graph_type(BoxOut).__strawberry_definition__.fields}

    assert fields == {"id", "name", "role", "version", "content"}
