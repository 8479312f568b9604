"""Turn the answer of a question into the form of a door: only pages differ."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from backend.domain.page import Page
from backend.views.observed_pages import EndlessPage, ObservedPage

PageFields = Callable[[Page[Any, Any] | EndlessPage[Any]], Mapping[str, Any]]
"""Returns the parts of a page by their names in a door, with its cursor."""


def formed(found: Any, page_fields: PageFields) -> Any:
    """Return an answer in the form of a door; only pages need another form."""
    if isinstance(found, Page):
        return SimpleNamespace(**page_fields(found))
    if isinstance(found, ObservedPage):
        others = {"unknown": found.unknown, "observed_at": found.observed_at}
        return SimpleNamespace(**page_fields(found.page), **others)
    return found
