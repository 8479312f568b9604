"""A version is of what can be edited, and of nothing else."""

from dataclasses import replace

import pytest

from backend.domain.errors import VersionMoved
from backend.domain.topic import QueueSettings
from backend.domain.version import check_version, version_by_group, version_of

SETTINGS = QueueSettings(4, 4, 6)


def test_a_version_is_the_same_for_the_same_settings_in_any_order():
    first = version_by_group({"a": SETTINGS, "b": SETTINGS})

    assert first == version_by_group({"b": replace(SETTINGS), "a": replace(SETTINGS)})
    assert first != version_by_group({"a": SETTINGS, "b": replace(SETTINGS, is_ordered=True)})
    assert first != version_by_group({"a": SETTINGS})
    assert version_of(["ab", "c"]) != version_of(["a", "bc"])


def test_another_version_than_the_present_one_is_refused_and_none_is_any():
    check_version("a topic", "v2", expected=None)
    check_version("a topic", "v2", expected="v2")

    with pytest.raises(VersionMoved, match="read it again") as refused:
        check_version("a topic", "v2", expected="v1")
    assert (refused.value.expected, refused.value.found) == ("v1", "v2")
