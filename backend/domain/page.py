"""Cut long lists into pages by key, so that a page costs the same wherever it begins."""

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
    """Hold one page, the key to go on after, and how many items there are in all."""

    items: tuple[ItemT, ...]
    next_key: KeyT | None
    total_count: int

    def map(self, convert: Callable[[ItemT], MappedT]) -> "Page[MappedT, KeyT]":
        """Return the same page of other items."""
        return Page(tuple(convert(item) for item in self.items), self.next_key, self.total_count)


def check_page_size(size: int, *, size_max: int = PAGE_SIZE_MAX) -> int:
    """Return the size of a page when it is one."""
    if not 1 <= size <= size_max:
        raise InvalidPageSize(size, size_max=size_max)
    return size


def cut_page(
    found: Sequence[ItemT], *, size: int, key: Callable[[ItemT], KeyT], total_count: int
) -> Page[ItemT, KeyT]:
    """Make a page from one item more than it holds: the extra one only says that more follow."""
    items = tuple(found[:size])
    next_key = key(items[-1]) if len(found) > size else None
    return Page(items, next_key, total_count)


def search_text(text: str | None) -> str:
    """Return what names are searched for; none and the empty text find all."""
    # A name holds no NUL and no half of a character, and neither may a text that Postgres compares
    # with names.
    whole = (text or "").encode("utf-8", "replace").decode()
    return whole.replace("\0", "\ufffd")[:SEARCH_LENGTH_MAX]
