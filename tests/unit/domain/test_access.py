"""Who may do what, decided from plain values (I23)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from backend.domain.access import (
    RULES,
    Credential,
    Permission,
    Principal,
    Reach,
    find_refusals,
    require,
    require_reach,
)
from backend.domain.access_errors import InvalidTokenScope, PasswordChangeRequired
from backend.domain.api_token import TokenScope, check_scope
from backend.domain.cluster_scope import ClusterScope
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
    ("reach", "named", "passes"),
    [
        (Reach.NAMED, [], False),
        (Reach.NAMED, ["east-1"], True),
        (Reach.NAMED, ["east-1", "main"], False),
        (Reach.KEPT, [], True),
        (Reach.KEPT, ["main"], False),
        (Reach.OWN, [], True),
        (Reach.CONTROL_PLANE, [], True),
    ],
)
def test_who_reaches_some_clusters_names_them_where_nothing_else_keeps_to_them(
    reach, named, passes
):
    limited = principal(clusters=ClusterScope.of(("east-*",)))
    require_reach(principal(), reach, named)

    try:
        require_reach(limited, reach, named)
    except Forbidden:
        assert not passes
    else:
        assert passes


@pytest.mark.parametrize("permission", [Permission.READ_ACCESS, Permission.MANAGE_ACCESS])
def test_an_administrator_of_some_clusters_sees_and_changes_no_access(permission):
    limited = principal(clusters=ClusterScope.of(("east-*",)))

    assert not limited.sees_all_access
    assert limited.may_see_access_of(limited.user_name)
    with pytest.raises(Forbidden, match="admin of all clusters"):
        require(limited, permission)


def test_a_token_has_a_role_of_its_owner_at_most():
    with pytest.raises(InvalidTokenScope):
        check_scope(TokenScope(Role.ADMIN), Role.OPERATOR)


@pytest.mark.parametrize("name", ["", " anna", "an na", "anna\n", ".anna", "x" * 129, "\u0430nna"])
def test_a_name_that_is_easily_misread_is_refused(name):
    with pytest.raises(InvalidName):
        check_user_name(name)


def test_what_a_user_may_not_do_is_refused_with_the_reason_of_the_refusal():
    # Case B13: the one table says both what is refused and what a page does not offer.
    for role in Role:
        for changes in ({}, {"must_change_password": True}, {"credential": Credential.TOKEN}):
            who = principal(role, **changes)
            refusals = find_refusals(who)
            for permission in Permission:
                if permission in refusals:
                    with pytest.raises((Forbidden, PasswordChangeRequired)) as refused:
                        require(who, permission)
                    assert refusals[permission] == str(refused.value)
                else:
                    require(who, permission)
