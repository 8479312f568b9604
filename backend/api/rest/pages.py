"""Describe one page of a list, and how to ask for the next."""

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

from backend.api.cursors import CURSOR_LENGTH_MAX, encode_cursor
from backend.domain.page import PAGE_SIZE_MAX, SEARCH_LENGTH_MAX, Page

ItemT = TypeVar("ItemT")
OutT = TypeVar("OutT")

Limit = Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX, description="How many items at most.")]
After = Annotated[
    str | None,
    Query(max_length=CURSOR_LENGTH_MAX, description="The `next` of the page before."),
]
Search = Annotated[
    str | None,
    Query(max_length=SEARCH_LENGTH_MAX, description="A part of the names that are listed."),
]


class PageOut(BaseModel, Generic[OutT]):
    """One page; `next` is null on the last."""

    items: list[OutT]
    next: str | None
    total_count: int


def page_out(page: Page[ItemT, Any], convert: Callable[[ItemT], OutT]) -> PageOut[OutT]:
    """Make the answer of a page."""
    return PageOut(
        items=[convert(item) for item in page.items],
        next=encode_cursor(page.next_key),
        total_count=page.total_count,
    )
