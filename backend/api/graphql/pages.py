"""Present one page of a list with the cursor of its end."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import strawberry

from backend.api.cursors import encode_cursor
from backend.domain.page import Page
from backend.views.field_texts import PAGE_INFO, PAGE_ITEMS, PAGE_NEXT, PAGE_TOTAL_COUNT
from backend.views.observed_pages import EndlessPage

NodeT = TypeVar("NodeT")


@strawberry.type
class PageInfo:
    """Say whether more pages follow, and where the next page starts."""

    has_next_page: bool = strawberry.field(description="Whether more pages follow.")
    end_cursor: str | None = strawberry.field(description=PAGE_NEXT.text)


@strawberry.type
class Connection(Generic[NodeT]):
    """Hold one page of nodes."""

    nodes: list[NodeT] = strawberry.field(description=PAGE_ITEMS.text)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO.text)
    total_count: int = strawberry.field(description=PAGE_TOTAL_COUNT.text)


def page_fields(page: Page[Any, Any] | EndlessPage[Any]) -> Mapping[str, Any]:
    """Return the fields of a connection."""
    cursor = encode_cursor(page.next_key)
    if isinstance(page, EndlessPage):
        info = PageInfo(has_next_page=page.has_more, end_cursor=cursor)
        return {"nodes": list(page.items), "page_info": info}
    info = PageInfo(has_next_page=page.next_key is not None, end_cursor=cursor)
    return {"nodes": list(page.items), "page_info": info, "total_count": page.total_count}
