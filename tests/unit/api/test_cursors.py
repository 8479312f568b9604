import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.api.cursors import CURSOR_LENGTH_MAX, decode_cursor, encode_cursor
from backend.domain.errors import InvalidCursor


@given(
    st.tuples(st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.integers(0, 99))
)
def test_a_key_survives_being_a_cursor(key):
    cursor = encode_cursor(key)

    if len(cursor) <= CURSOR_LENGTH_MAX:
        assert decode_cursor(cursor, tuple[str, int]) == key


def test_no_key_is_no_cursor():
    assert encode_cursor(None) is None
    assert decode_cursor(None, str) is None


@given(st.text(max_size=100))
def test_what_no_page_ended_with_is_refused_and_nothing_worse(text):
    try:
        decode_cursor(text, tuple[str, int])
    except InvalidCursor:
        return


@pytest.mark.parametrize(
    "cursor",
    [
        "x" * (CURSOR_LENGTH_MAX + 1),
        "ä",
        base64.urlsafe_b64encode(b"{").decode(),
        base64.urlsafe_b64encode(b"17").decode(),
        base64.urlsafe_b64encode(b'"a\\u0000b"').decode(),
    ],
)
def test_a_made_up_cursor_is_refused(cursor):
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, str)
