"""Present one page of a list with the cursor of its end."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import strawberry

from backend.api.cursors import encode_cursor
from backend.domain.page import Page

ItemT = TypeVar("ItemT")
NodeT = TypeVar("NodeT")


@strawberry.type
class PageInfo:
    """Say whether more follows, and after what."""

    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class Connection(Generic[NodeT]):
    """Hold one page of nodes."""

    nodes: list[NodeT]
    page_info: PageInfo
    total_count: int


def connect(page: Page[ItemT, Any], convert: Callable[[ItemT], NodeT]) -> Connection[NodeT]:
    """Present a page."""
    return Connection(
        nodes=[convert(item) for item in page.items],
        page_info=PageInfo(
            has_next_page=page.next_key is not None, end_cursor=encode_cursor(page.next_key)
        ),
        total_count=page.total_count,
    )
