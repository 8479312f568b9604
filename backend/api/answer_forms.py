"""Put what a question has found into the form that a door gives to pages."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from backend.domain.page import Page
from backend.views.observed_pages import EndlessPage, ObservedPage

PageFields = Callable[[Page[Any, Any] | EndlessPage[Any]], Mapping[str, Any]]
"""Say what a door calls the parts of a page, and how it writes its cursor."""


def formed(found: Any, page_fields: PageFields) -> Any:
    """Return an answer with the attributes that a door reads; only pages need another form."""
    if isinstance(found, Page):
        return SimpleNamespace(**page_fields(found))
    if isinstance(found, ObservedPage):
        others = {"unknown": found.unknown, "observed_at": found.observed_at}
        return SimpleNamespace(**page_fields(found.page), **others)
    return found
