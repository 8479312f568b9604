import pytest

from backend.domain.errors import SettingNotFound, TooManySettings
from backend.nameserver import key_values
from backend.nameserver.key_values import KeyValues


def test_a_value_is_kept_by_namespace_and_key():
    table = KeyValues()

    table.put("orders", "t", "a:4")

    assert table.get("orders", "t") == "a:4"
    assert table.get_table("orders") == {"t": "a:4"}


def test_what_is_not_there_is_said_so():
    table = KeyValues()

    with pytest.raises(SettingNotFound):
        table.get("orders", "t")
    with pytest.raises(SettingNotFound):
        table.get_table("orders")


def test_the_last_key_takes_its_namespace_along():
    table = KeyValues()
    table.put("orders", "t", "a:4")

    table.remove("orders", "t")
    table.remove("orders", "t")

    assert table.find_table("orders") is None


def test_a_full_table_takes_changes_and_no_new_keys(monkeypatch):
    monkeypatch.setattr(key_values, "ENTRY_COUNT_MAX", 1)
    table = KeyValues()
    table.put("n", "k", "1")

    table.put("n", "k", "2")

    with pytest.raises(TooManySettings):
        table.put("n", "other", "1")
    assert table.get("n", "k") == "2"
