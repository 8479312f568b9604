"""A change of a broker's file touches the named properties and nothing else (G14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.java_properties import (
    change_properties_text,
    format_properties_text,
    parse_properties_text,
)
from workers.broker.configuration.config_file import ConfigFile

NAMES = st.from_regex(r"[A-Za-z0-9.]{1,8}", fullmatch=True)
VALUES = st.from_regex(r"[ -~]{0,20}", fullmatch=True).map(str.strip)


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("# why\na=1\n\nb = 2\n", {"b": "3"}, "# why\na=1\n\nb=3\n"),
        ("a=1\nb=2\na=3\n", {"a": "4"}, "a=4\nb=2\n"),
        ("a=1\n", {"b": "2 3"}, "a=1\nb=2 3\n"),
        ("a=1\nb=2\n", {"a": None, "c": None}, "b=2\n"),
        ("levels=1s \\\n  5s\na=1", {"levels": "2s 3s"}, "levels=2s 3s\na=1\n"),
        ("levels=1s \\\n  5s\na=1", {"a": "2"}, "levels=1s \\\n  5s\na=2\n"),
        ("", {"a": "x\\y"}, "a=x\\\\y\n"),
        ("a=1 \\", {"b": "2"}, "a=1 \\\n\nb=2\n"),
        ("# C:\\users\np=C:\\users\na=1", {"a": "2"}, "# C:\\users\np=C:\\users\na=2\n"),
        ("a=1\n", {"b": "h:1;i:2"}, "a=1\nb=h:1;i:2\n"),
    ],
)
def test_only_what_is_named_changes(text, changes, expected):
    assert change_properties_text(text, changes) == expected


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, st.none() | VALUES))
def test_what_is_changed_is_read_back(values, changes):
    changed = change_properties_text(format_properties_text(values), changes)

    merged = {**values, **changes}
    assert parse_properties_text(changed) == {k: v for k, v in merged.items() if v is not None}


@given(st.text(max_size=200))
def test_a_change_of_nothing_keeps_every_property(text):
    assert parse_properties_text(change_properties_text(text, {})) == parse_properties_text(text)


def test_the_former_file_is_kept_beside_the_new_one(tmp_path):
    path = tmp_path / "broker.conf"
    path.write_text("a=1\n")
    path.chmod(0o640)

    for value in ("2", "3"):
        ConfigFile(path).change({"a": value})

    assert (path.read_text(), (tmp_path / "broker.conf.bak").read_text()) == ("a=3\n", "a=2\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broker.conf", "broker.conf.bak"]


def test_a_file_that_is_no_text_any_more_is_named_and_left_alone(tmp_path):
    path = tmp_path / "broker.conf"
    path.write_bytes(b"brokerName=\xff\n")

    for use in (ConfigFile(path).read, lambda: ConfigFile(path).change({"brokerName": "a"})):
        with pytest.raises(OSError, match=r"not UTF-8 text.*broker\.conf"):
            use()

    assert path.read_bytes() == b"brokerName=\xff\n"
