"""What is made from the orders is what is kept."""

import json

from backend.operations.engine.known_kinds import KINDS
from tests.order_pages import FORMS, PAGE, forms, rewritten, table


def test_the_page_lists_the_parameters_of_every_kind():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make orders`"
    assert "| `create_topic` | `cluster_name` | text | required | Name of the cluster. |" in table()


def test_the_page_names_the_command_of_every_kind():
    page = PAGE.read_text()

    assert [kind for kind in KINDS if f"\n| `{kind}` | `regent " not in page] == []


def test_the_console_makes_its_forms_from_the_orders_as_they_are():
    assert FORMS.read_text() == forms(), "run `make orders`"


def test_a_form_explains_what_a_field_means_and_which_value_of_another_one_needs_it():
    offset = json.loads(forms())["resetOffsets"]["offset"]

    assert offset["text"] == "New offset, with the position `offset`."
    assert offset["onlyWith"] == {"name": "position", "value": "OFFSET"}
