"""Bodies of messages are shown as what they are, and never more than was asked for."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.message_body import INFLATED_BYTES_MAX, BodyForm, show_body

AUTO, TEXT, JSON, HEX = BodyForm.AUTO, BodyForm.TEXT, BodyForm.JSON, BodyForm.HEX
ZLIB, LZ4 = 1 | 3 << 8, 1 | 1 << 8


@pytest.mark.parametrize(
    ("body", "asked", "used"),
    [
        (b'{"a": [1, 2]}', AUTO, JSON),
        (b"[1]", AUTO, JSON),
        # A number alone is JSON by the letter, and text for its sender.
        (b"4711", AUTO, TEXT),
        (b'{"a": ', AUTO, TEXT),
        (b'{"a": 1}', TEXT, TEXT),
        (b"\x00\x01", AUTO, HEX),
        (b"\xff\xfe", TEXT, HEX),
        (b"plain", JSON, TEXT),
        (b"plain", HEX, HEX),
        (b"", AUTO, TEXT),
    ],
)
def test_the_form_is_the_one_asked_for_or_the_next_that_it_can_be(body, asked, used):
    assert show_body(body, 0, form=asked).form is used


def test_what_could_not_be_shown_so_is_said():
    assert show_body(b"\x00", 0, form=JSON).note == "it can't be displayed as json"
    assert show_body(b"\x00", 0, form=AUTO).note is None


def test_a_compressed_body_is_inflated_and_another_compression_named():
    packed = zlib.compress(b"hello")

    assert show_body(packed, ZLIB, form=AUTO).content == "hello"
    # The first clients had only zlib, and no bits for it.
    assert show_body(packed, 1, form=AUTO).size_bytes == 5
    other = show_body(b"\x04\x22", LZ4, form=AUTO)
    assert (other.form, other.compression, other.size_bytes) == (HEX, "lz4", None)
    assert "shown as it is stored" in (other.note or "")
    broken = show_body(b"no zlib", ZLIB, form=AUTO)
    assert (broken.content, broken.size_bytes) == ("no zlib", None)


def test_a_bomb_is_inflated_no_further_than_the_limit():
    bomb = zlib.compress(bytes(INFLATED_BYTES_MAX * 4))

    shown = show_body(bomb, ZLIB, form=HEX, shown_bytes_max=16)

    assert (shown.size_bytes, shown.shown_bytes, shown.is_cut) == (None, 16, True)
    assert "decompressed size is more" in (shown.note or "")


@given(st.binary(max_size=200), st.sampled_from(BodyForm), st.integers(1, 64))
def test_no_body_shows_more_than_was_asked_for(body, form, count):
    shown = show_body(body, 0, form=form, shown_bytes_max=count)

    assert shown.shown_bytes == min(len(body), count)
    assert shown.is_cut is (len(body) > count)
    if shown.form is HEX:
        assert bytes.fromhex(shown.content.replace("\n", " ")) == body[:count]
    if shown.form is TEXT:
        assert body.startswith(shown.content.encode())


def test_a_bomb_of_nested_brackets_is_text():
    assert show_body(b"[" * 100_000, 0, form=AUTO, shown_bytes_max=200_000).form is TEXT
