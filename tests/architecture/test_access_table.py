"""docs/access.md says who may ask for what as it is (I23)."""

from tests.access_table import PAGE, graph_doors, render, rest_doors, rewritten


def test_the_page_says_what_the_doors_ask_for():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make access`"


def test_the_table_has_a_row_for_every_door():
    rows = render().splitlines()[2:]

    assert len(rest_doors()) > 30
    assert len(graph_doors()) > 30
    assert len(rows) == len(rest_doors()) + len(graph_doors())
