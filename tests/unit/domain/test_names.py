import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import InvalidAddress, InvalidName
from backend.domain.names import (
    check_address,
    check_broker_group_name,
    check_cluster_name,
    check_topic_name,
)

BAD_NAMES = [
    "",
    " ",
    "a b",
    "a/b",
    "/",
    "..",
    ".",
    "a..b",
    "../etc/passwd",
    ".hidden",
    "a.",
    "a\0b",
    "a\nb",
    "a\\b",
    "ünïcode",
    "x" * 256,
    "\uff0e\uff0e",
]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("check", [check_cluster_name, check_broker_group_name, check_topic_name])
def test_a_name_that_could_be_something_else_is_refused(check, name):
    with pytest.raises(InvalidName):
        check(name)


@pytest.mark.parametrize(
    "name",
    [
        "orders",
        "%RETRY%group",
        "%RETRY%group+orders",
        "%DLQ%g",
        "NS%topic",
        "TBW102",
        "a-b_c|d",
        "x" * 255,
        "host.local",
    ],
)
def test_names_that_stock_brokers_announce_are_taken(name):
    assert check_topic_name(name) == name


@pytest.mark.parametrize("check", [check_cluster_name, check_broker_group_name])
def test_names_of_clusters_and_groups_end_at_127_bytes(check):
    assert check("x" * 127)
    with pytest.raises(InvalidName, match="longer than 127"):
        check("x" * 128)


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("a b", "holds a blank"),
        ("a/b", "holds '/'"),
        ("a'b", 'holds "\'"'),
        ("caf\u00e9", "holds '\u00e9' (U+00E9 latin small letter e with acute)"),
        ("a\0b", "holds (U+0000)"),
        ("a\u200bb", "holds (U+200B zero width space)"),
        (".a", "begins with '.'"),
        ("a.", "ends with '.'"),
        ("a..b", "holds '..'"),
    ],
)
def test_a_refusal_names_the_character_and_what_is_allowed(name, reported):
    with pytest.raises(InvalidName) as refused:
        check_topic_name(name)

    assert refused.value.reason.startswith(f"{reported}; allowed are letters, digits, '%'")


@given(st.text())
def test_no_text_that_is_accepted_can_leave_its_folder(name):
    try:
        check_topic_name(name)
    except InvalidName:
        return

    assert "/" not in name
    assert ".." not in name
    assert name.isascii()
    assert name.isprintable()


@pytest.mark.parametrize("address", ["10.0.0.1:10911", "broker-a:1", "[::1]:10911", "a.b.c:65535"])
def test_an_address_is_a_host_and_a_port(address):
    assert check_address(address) == address


@pytest.mark.parametrize(
    "address",
    ["", "host", ":1", "host:", "host:0", "host:65536", "a,b:1", 'a":1', "a b:1", "h:1\0"],
)
def test_what_no_client_could_connect_to_is_refused(address):
    with pytest.raises(InvalidAddress):
        check_address(address)
