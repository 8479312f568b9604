import pytest

from backend.domain.errors import InvalidPageSize
from backend.domain.page import (
    PAGE_SIZE_MAX,
    SEARCH_LENGTH_MAX,
    check_page_size,
    cut_page,
    search_text,
)


def test_an_item_more_than_the_page_says_that_more_follow():
    page = cut_page([1, 2, 3], size=2, key=str, total_count=9)

    assert (page.items, page.next_key, page.total_count) == ((1, 2), "2", 9)


def test_the_last_page_has_no_next():
    assert cut_page([1, 2], size=2, key=str, total_count=2).next_key is None


@pytest.mark.parametrize("size", [0, -1, PAGE_SIZE_MAX + 1])
def test_a_page_that_is_empty_or_too_large_is_refused(size):
    with pytest.raises(InvalidPageSize):
        check_page_size(size)


def test_a_text_is_searched_for_as_far_as_names_can_hold_it():
    assert search_text(None) == search_text("") == ""
    assert search_text("a\0b") == "a\ufffdb"
    assert len(search_text("a" * 10_000)) == SEARCH_LENGTH_MAX
