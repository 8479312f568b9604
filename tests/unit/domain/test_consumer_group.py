import pytest

from backend.domain.consumer_group import GroupSettings, describe


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "none"),
        ([], "none"),
        (None, "none"),
        (True, "true"),
        (3, "3"),
        ({"type": "CUSTOMIZED"}, "type CUSTOMIZED"),
        ({"b": [1, 2], "a": {}}, "a none; b 1; 2"),
    ],
)
def test_what_only_stock_knows_of_a_group_is_shown_in_words(value, words):
    settings = GroupSettings(others={"groupRetryPolicy": value})

    assert describe(settings)["groupRetryPolicy"] == words
    assert f"groupRetryPolicy {words}" in settings.text
