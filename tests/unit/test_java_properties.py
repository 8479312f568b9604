import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.java_properties import format_properties_text, parse_properties_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", {"a": "1"}),
        ("a = 1\nb: 2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        ("# note\n! note\n\n  a=1", {"a": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=", {"a": ""}),
        ("a", {"a": ""}),
        ("a=b=c", {"a": "b=c"}),
        ("namesrvAddr=1.1.1.1:1;2.2.2.2:2", {"namesrvAddr": "1.1.1.1:1;2.2.2.2:2"}),
        ("levels=1s \\\n  5s", {"levels": "1s 5s"}),
        ("path=C:\\\\x\\\\", {"path": "C:\\x\\"}),
        ("u=\\u00e4\\tb", {"u": "ä\tb"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a=1\r\nb=2\r\n", {"a": "1", "b": "2"}),
        ("a=1 \\", {"a": "1"}),
        ("a=1  \nb=2\t\n", {"a": "1", "b": "2"}),
        ("p=C:\\users\n", {"p": "C:users"}),
        ("\\u=\\\\u0061", {"u": "\\u0061"}),
        ("a=x\u2028y", {"a": "x\u2028y"}),
        ("", {}),
    ],
)
def test_java_properties_are_read(text, expected):
    assert parse_properties_text(text) == expected


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9.]{1,20}", fullmatch=True),
        st.from_regex(r"[ -~]{0,30}", fullmatch=True).map(str.strip),
    )
)
def test_what_is_written_is_read_back(values):
    assert parse_properties_text(format_properties_text(values)) == values


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    parse_properties_text(text)
