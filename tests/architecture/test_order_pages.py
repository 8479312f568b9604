"""What is made from the orders is what is kept."""

from tests.order_pages import FORMS, PAGE, forms, rewritten, table


def test_the_page_lists_the_parameters_of_every_kind():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make orders`"
    assert "| `create_topic` | `cluster_name` | text | required | Name of the cluster. |" in table()


def test_the_console_makes_its_forms_from_the_orders_as_they_are():
    assert FORMS.read_text() == forms(), "run `make orders`"
