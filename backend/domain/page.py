"""Divide long lists into pages by key, so that the cost of a page does not depend on its place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from backend.domain.errors import InvalidPageSize

PAGE_SIZE_MAX: Final = 500
SEARCH_LENGTH_MAX: Final = 255

ItemT = TypeVar("ItemT")
KeyT = TypeVar("KeyT")
MappedT = TypeVar("MappedT")


@dataclass(frozen=True, slots=True)
class Page(Generic[ItemT, KeyT]):
    """Hold one page, the key after which the next page starts, and the number of all items."""

    items: tuple[ItemT, ...]
    next_key: KeyT | None
    total_count: int

    def map(self, convert: Callable[[ItemT], MappedT]) -> "Page[MappedT, KeyT]":
        """Return the same page of other items."""
        return Page(tuple(convert(item) for item in self.items), self.next_key, self.total_count)


def check_page_size(size: int, *, size_max: int = PAGE_SIZE_MAX) -> int:
    """Return the size of a page if it is valid."""
    if not 1 <= size <= size_max:
        raise InvalidPageSize(size, size_max=size_max)
    return size


def cut_page(
    found: Sequence[ItemT], *, size: int, key: Callable[[ItemT], KeyT], total_count: int
) -> Page[ItemT, KeyT]:
    """Make a page from one item more than its size: the extra item shows that more follow."""
    items = tuple(found[:size])
    next_key = key(items[-1]) if len(found) > size else None
    return Page(items, next_key, total_count)


def search_text(text: str | None) -> str:
    """Return the text to search for in names; None and the empty text find all."""
    # Names contain no NUL and no half of a character, and Postgres accepts neither in a text to
    # compare.
    whole = (text or "").encode("utf-8", "replace").decode()
    return whole.replace("\0", "\ufffd")[:SEARCH_LENGTH_MAX]
