"""Who may do what, decided from plain values (I23)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from backend.domain.access import (
    RULES,
    Credential,
    Permission,
    Principal,
    require,
    require_cluster,
)
from backend.domain.access_errors import InvalidTokenScope, PasswordChangeRequired
from backend.domain.api_token import TokenScope, check_scope
from backend.domain.errors import Forbidden, InvalidName
from backend.domain.user import Role, check_user_name


def principal(role=Role.ADMIN, credential=Credential.SESSION, **values):
    return Principal(
        1, "anna", role, credential, UUID(int=1), datetime(2026, 1, 1, tzinfo=UTC), **values
    )


def test_every_permission_has_a_rule():
    assert set(RULES) == set(Permission)


def test_roles_stand_in_one_line():
    assert [a for a in Role if a.includes(Role.OPERATOR)] == [Role.OPERATOR, Role.ADMIN]
    assert Role.ADMIN.at_most(Role.VIEWER) is Role.VIEWER
    assert Role.VIEWER.at_most(Role.ADMIN) is Role.VIEWER


@pytest.mark.parametrize("permission", [p for p in Permission if RULES[p].needs_session])
def test_no_token_of_an_administrator_reaches_access(permission):
    require(principal(), permission)

    with pytest.raises(Forbidden):
        require(principal(credential=Credential.TOKEN), permission)


def test_a_one_time_password_is_good_for_its_own_end_alone():
    newcomer = principal(must_change_password=True)
    passed = set()

    for permission in Permission:
        try:
            require(newcomer, permission)
        except PasswordChangeRequired:
            continue
        passed.add(permission)

    assert passed == {Permission.IDENTIFY, Permission.SIGN}


@pytest.mark.parametrize(
    ("patterns", "name", "reached"),
    [
        (("*",), None, True),
        (("*",), "main", True),
        (("main",), "main", True),
        (("main",), "Main", False),
        (("main",), "main-2", False),
        (("*-1", "east"), "staging-1", True),
        (("stag*",), "staging-1", True),
        (("a", "b*"), "bc", True),
        (("main",), None, False),
    ],
)
def test_patterns_say_which_clusters_a_token_reaches(patterns, name, reached):
    limited = principal(credential=Credential.TOKEN, cluster_patterns=patterns)

    try:
        require_cluster(limited, name)
    except Forbidden:
        assert not reached
    else:
        assert reached


@pytest.mark.parametrize("pattern", ["", "a?", "[ab]", "a b", "a/b", "x" * 200])
def test_a_pattern_holds_a_name_and_stars_alone(pattern):
    with pytest.raises(InvalidTokenScope):
        check_scope(TokenScope(Role.VIEWER, (pattern,)), Role.ADMIN)


@pytest.mark.parametrize("name", ["", " anna", "an na", "anna\n", ".anna", "x" * 129, "\u0430nna"])
def test_a_name_that_is_easily_misread_is_nobodys(name):
    with pytest.raises(InvalidName):
        check_user_name(name)
