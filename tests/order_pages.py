"""Write the files that are derived from the orders: `python -m tests.order_pages`.

These are the table of parameters in docs/operations.md, between two marks, and the description of
the orders' fields for the console's forms.
"""

import json
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from backend.domain.orders.message import SendMessage
from backend.domain.orders.parameter import Field, fields_of
from backend.operations.engine.known_kinds import KINDS
from tests.marked_regions import rewritten_region

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "operations.md"
FORMS = ROOT / "frontend" / "src" / "features" / "orders" / "orders.json"
ORDERS = {**{name: kind.order_type for name, kind in KINDS.items()}, "send_message": SendMessage}
"""The orders of all kinds of operations, and the order that is carried out at once."""

BEGIN, END = "<!-- written by make orders: begin -->\n", "<!-- end -->\n"


def rewritten(page: str) -> str:
    """Put the table into the page."""
    return rewritten_region(page, table(), begin=BEGIN, end=END)


def table() -> str:
    """Write a row for every parameter of every order."""
    head = "| kind | parameter | allowed values | default | meaning |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in _rows())


def forms() -> str:
    """Describe every field that the graph takes, by its order, in the graph's spelling."""
    described = {_camel(name): _forms(order_type) for name, order_type in ORDERS.items()}
    return json.dumps(described, indent=2) + "\n"


def _forms(order_type: type[Any]) -> dict[str, Any]:
    return {_camel(one.name): _form(one) for one in fields_of(order_type) if not one.about.for_undo}


def _rows() -> Iterator[tuple[str, ...]]:
    for name, order_type in ORDERS.items():
        for number, one in enumerate(fields_of(order_type)):
            text = one.about.text.replace("|", "\\|")
            shown = f"`{name}`" if number == 0 else ""
            yield shown, f"`{one.name}`", _allowed(one), _default(one), text


def _allowed(one: Field) -> str:
    bounds = one.about.bounds
    if is_dataclass(one.type):
        parts = ", ".join(f"`{part.name}`" for part in fields_of(one.type))
        allowed = f"{{{parts}}}"
    elif issubclass(one.type, Enum):
        allowed = ", ".join(f"`{choice.value}`" for choice in one.type)
    elif one.type is bool:
        allowed = "`true`, `false`"
    elif one.type is int:
        allowed = f"{bounds.low} or more" if one.is_long else f"{bounds.low} to {bounds.high}"
    else:
        longest = bounds.length_max or bounds.name_length_max
        allowed = f"text of at most {longest} characters" if longest else "text"
    if one.is_list:
        allowed = f"list of at most {bounds.count_max}: {allowed}"
    return allowed


def _default(one: Field) -> str:
    if one.is_required:
        return "required"
    return "none" if one.default in (None, ()) else f"`{json.dumps(one.default)}`".replace('"', "")


def _form(one: Field) -> dict[str, Any]:
    about, bounds = one.about, one.about.bounds
    described: dict[str, Any] = {"type": _form_type(one), "text": about.meaning}
    if one.is_required:
        described["isRequired"] = True
    if about.absence is not None:
        described["absence"] = about.absence
    if about.only_with is not None:
        name, value = about.only_with
        described["onlyWith"] = {"name": _camel(name), "value": value.name}
    if one.is_list:
        described["countMax"] = bounds.count_max
    if is_dataclass(one.type):
        described["parts"] = _forms(one.type)
    elif issubclass(one.type, Enum):
        described["choices"] = [choice.name for choice in one.type]
    elif one.type is int:
        described |= {"low": bounds.low, "high": None if one.is_long else bounds.high}
    elif one.type is str:
        described["lengthMax"] = bounds.length_max or bounds.name_length_max
    if not one.is_list and not one.is_required:
        described["initial"] = one.default.name if isinstance(one.default, Enum) else one.default
    return described


def _form_type(one: Field) -> str:
    if one.is_list:
        return "parts" if is_dataclass(one.type) else "names"
    if issubclass(one.type, Enum):
        return "choice"
    if one.type is bool:
        return "yesNo" if one.is_optional else "flag"
    if one.type is int:
        return "number" if one.is_long else "count"
    return "name" if one.about.bounds.name_length_max else "text"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
    FORMS.write_text(forms())
