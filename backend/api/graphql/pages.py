"""Present one page of a list with the cursor of its end."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import strawberry

from backend.api.cursors import encode_cursor
from backend.domain.page import Page
from backend.views.observed_pages import EndlessPage

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


def page_fields(page: Page[Any, Any] | EndlessPage[Any]) -> Mapping[str, Any]:
    """Return what a connection holds."""
    cursor = encode_cursor(page.next_key)
    if isinstance(page, EndlessPage):
        info = PageInfo(has_next_page=page.has_more, end_cursor=cursor)
        return {"nodes": list(page.items), "page_info": info}
    info = PageInfo(has_next_page=page.next_key is not None, end_cursor=cursor)
    return {"nodes": list(page.items), "page_info": info, "total_count": page.total_count}
