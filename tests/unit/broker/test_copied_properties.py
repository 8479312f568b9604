import pytest
from regent_engine import PROPERTIES_SIZE_MAX, parse_properties

from workers.broker.shares.copied_properties import ROOM_BYTES, copied_properties

NUL_BYTES = b"N\x01" + bytes(512) + b"\x02"


@pytest.mark.parametrize(
    ("stored", "copied"),
    [
        (b"K\x01v\x01w\x02", b"A\x01a\x02K\x01v\x01w\x02"),
        (b"K\x01\xff\x02", b"A\x01a\x02K\x01\xff\x02"),
        # Without the last separator, as stock writes them.
        (b"K\x01v", b"A\x01a\x02K\x01v\x02"),
        (b"A\x01former\x02L\x01left out\x02noise\x02K\x01\x02", b"A\x01a\x02"),
    ],
)
def test_properties_of_a_copy_are_those_of_its_message_and_its_own(stored, copied):
    assert copied_properties(stored, {"A": "a"}, {"L"}) == (copied, 0)


def test_names_by_which_a_message_is_found_have_precedence_where_there_is_no_room():
    large = b"L\x01".ljust(PROPERTIES_SIZE_MAX - ROOM_BYTES - 10, b"v") + b"\x02"

    text, missing_count = copied_properties(large + b"KEYS\x01key\x02", {"A": "a"}, set())

    assert parse_properties(text) == {"A": "a", "KEYS": "key"}
    assert missing_count == 1


def test_a_property_that_the_store_refuses_is_left_out():
    assert copied_properties(NUL_BYTES + b"\0\x01x\x02", {"A": "a"}, set()) == (
        b"A\x01a\x02\0\x01x\x02",
        1,
    )
