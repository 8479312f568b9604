"""Show one page of the answers of brokers, and the brokers whose answer is missing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from backend.domain.page import Page

ItemT = TypeVar("ItemT")
UnknownT = TypeVar("UnknownT")


@dataclass(frozen=True, slots=True)
class EndlessPage(Generic[ItemT]):
    """Hold one page of a list that grows at its end; the last page has a key for later items."""

    items: tuple[ItemT, ...]
    next_key: Any
    has_more: bool


@dataclass(frozen=True, slots=True)
class ObservedPage(Generic[ItemT, UnknownT]):
    """Hold one page, the brokers whose answer is missing or incomplete, and the time of asking.

    A subclass is named as the answer, and names the views that it holds.
    """

    is_endless: ClassVar[bool] = False

    page: Page[ItemT, Any] | EndlessPage[ItemT]
    unknown: list[UnknownT]
    observed_at: datetime

    @classmethod
    def of(cls, found: Any) -> Self:
        """Show a page that a use case has found."""
        item, unknown = views_of(cls)
        page = found.page.map(item.of)
        return cls(page, [unknown.of(one) for one in found.unknown], found.observed_at)


def views_of(answer: Any) -> tuple[Any, Any]:
    """Return the views of the items and of the unknown brokers of an observed page."""
    (base,) = answer.__orig_bases__
    item, unknown = base.__args__
    return item, unknown


def is_observed_page(answer: Any) -> bool:
    """Return whether an answer is an observed page."""
    return isinstance(answer, type) and issubclass(answer, ObservedPage)
