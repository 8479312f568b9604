"""Which clusters a user reaches, decided from plain values (I23)."""

import pytest

from backend.domain.access_errors import InvalidClusterPattern
from backend.domain.cluster_scope import (
    ALL_CLUSTERS,
    EVERYWHERE,
    PATTERNS_MAX,
    ClusterScope,
    check_patterns,
)
from backend.domain.errors import Forbidden


@pytest.mark.parametrize(
    ("patterns", "name", "is_reached"),
    [
        (("*",), "", True),
        (("*",), "main", True),
        (("main",), "main", True),
        (("main",), "Main", False),
        (("main",), "main-2", False),
        (("main",), "", False),
        (("*-1", "east"), "staging-1", True),
        (("stag*",), "staging-1", True),
        (("a", "b*"), "bc", True),
        (("a.c",), "abc", False),
        (("a_c",), "abc", False),
        (("a%c",), "abc", False),
    ],
)
def test_patterns_say_which_clusters_are_reached(patterns, name, is_reached):
    scope = ClusterScope.of(patterns)

    assert scope.includes(name) is is_reached
    if not is_reached:
        with pytest.raises(Forbidden, match="within reach"):
            scope.require(name)


def test_neither_a_user_nor_their_token_widens_what_the_other_reaches():
    both = ClusterScope.of(("staging-*", "test"), ("*-1",))

    asked = ("staging-1", "staging-2", "test", "prod-1")
    assert [name for name in asked if both.includes(name)] == ["staging-1"]
    assert str(both) == "staging-*, test, of these *-1"


@pytest.mark.parametrize("limits", [(), (("*",),), (("*",), ("a", "**"))])
def test_patterns_for_all_are_no_limit(limits):
    scope = ClusterScope.of(*limits)

    assert scope == EVERYWHERE
    assert (scope.is_limited, str(scope)) == (False, "*")


def test_patterns_that_mean_all_are_kept_as_one():
    assert check_patterns(["a", "***"]) == ALL_CLUSTERS
    assert check_patterns(["a", "b*"]) == ("a", "b*")


@pytest.mark.parametrize("pattern", ["", "a?", "[ab]", "a b", "a/b", "x" * 200])
def test_a_pattern_holds_a_name_and_stars_alone(pattern):
    with pytest.raises(InvalidClusterPattern):
        check_patterns([pattern])


@pytest.mark.parametrize("patterns", [[], ["a"] * (PATTERNS_MAX + 1)])
def test_there_is_a_pattern_and_not_too_many(patterns):
    with pytest.raises(InvalidClusterPattern):
        check_patterns(patterns)
