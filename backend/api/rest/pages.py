"""Describe one page of a list, and how to ask for the next."""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from backend.api.cursors import CURSOR_LENGTH_MAX, encode_cursor
from backend.domain.page import PAGE_SIZE_MAX, Page
from backend.views.field_texts import (
    PAGE_ENDLESS_NEXT,
    PAGE_HAS_MORE,
    PAGE_ITEMS,
    PAGE_NEXT,
    PAGE_TOTAL_COUNT,
)
from backend.views.observed_pages import EndlessPage

OutT = TypeVar("OutT")

Limit = Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX, description="How many items at most.")]
After = Annotated[
    str | None,
    Query(max_length=CURSOR_LENGTH_MAX, description="The `next` of the page before."),
]


class PageOut(BaseModel, Generic[OutT]):
    """One page; `next` is null on the last."""

    items: Annotated[list[OutT], PAGE_ITEMS]
    next: Annotated[str | None, PAGE_NEXT]
    total_count: Annotated[int, PAGE_TOTAL_COUNT]


class EndlessPageOut(BaseModel, Generic[OutT]):
    """One page of a list that grows at its end."""

    items: Annotated[list[OutT], PAGE_ITEMS]
    next: Annotated[str, PAGE_ENDLESS_NEXT]
    has_more: Annotated[bool, PAGE_HAS_MORE]


def page_fields(page: Page[Any, Any] | EndlessPage[Any]) -> Mapping[str, Any]:
    """Return the fields of the answer of a page."""
    cursor = encode_cursor(page.next_key)
    if isinstance(page, EndlessPage):
        return {"items": list(page.items), "next": cursor or "", "has_more": page.has_more}
    return {"items": list(page.items), "next": cursor, "total_count": page.total_count}
