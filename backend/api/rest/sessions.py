"""Sign in and out over REST, and end open sessions."""

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from backend.api.context import ApiContext, Context, SignedIn, name_author, peer_of
from backend.api.gate import COOKIE_NAME, is_own_origin
from backend.api.permissions import needs
from backend.api.rest.errors import COMMON, NOT_FOUND, refused_with
from backend.api.rest.routers import guarded_router, open_router
from backend.domain.access import Credential, Permission, find_refusals, find_risk_max
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import Forbidden
from backend.domain.operation import Author
from backend.domain.plan import Risk
from backend.domain.user import PASSWORD_LENGTH_MAX, USER_NAME_LENGTH_MAX, Role
from backend.services.access import sessions
from backend.views.field_texts import (
    CLUSTER_LIMITS,
    CREDENTIAL,
    CREDENTIAL_EXPIRES_AT,
    MUST_CHANGE_PASSWORD,
    USER_NAME,
    USER_ROLE,
)
from backend.views.graph_forms import Text

sign_in_router = open_router("session")
router = guarded_router("session")


async def get_action_author(request: Request, principal: SignedIn) -> Author:
    """Return the author of a change that concerns no cluster."""
    return name_author(principal, request, "rest")


ActionAuthor = Annotated[Author, Depends(get_action_author)]
OfUser = Annotated[
    str | None, Query(max_length=USER_NAME_LENGTH_MAX, description="Only items of this user.")
]


Everywhere = Annotated[
    Literal["true"],
    Query(alias="everywhere", description="Must be true: all sessions of the user end."),
]


class SignIn(BaseModel):
    """Name and password of a user."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, USER_NAME] = Field(min_length=1, max_length=USER_NAME_LENGTH_MAX)
    password: Annotated[SecretStr, Text("Password of the user.")] = Field(
        max_length=PASSWORD_LENGTH_MAX
    )


class SessionOut(BaseModel):
    """The caller with role and credential, and when the credential expires.

    A cluster is within reach if its name fits a pattern of each list of `cluster_limits`: those of
    the user, and those of the token. Without lists, all clusters are. A one-time password must be
    changed before any other request.
    """

    name: Annotated[str, USER_NAME]
    role: Annotated[Role, USER_ROLE]
    cluster_limits: Annotated[list[list[str]], CLUSTER_LIMITS]
    expires_at: Annotated[datetime, CREDENTIAL_EXPIRES_AT]
    credential: Annotated[Credential, CREDENTIAL]
    must_change_password: Annotated[bool, MUST_CHANGE_PASSWORD]


class OwnSessionOut(SessionOut):
    """The caller, and what the caller may not do.

    `refusals` gives the reason for each permission that the caller lacks, so a page can leave out
    what would be refused. `risk_max` is the highest class of operations that the caller may
    confirm.
    """

    refusals: Annotated[
        dict[Permission, str], Text("Reason for each permission that the caller lacks.")
    ]
    risk_max: Annotated[Risk, Text("Highest risk class of operations that the caller may confirm.")]


class OpenedSessionOut(SessionOut):
    """A new session; only a caller that asks for the token gets it."""

    token: Annotated[
        str | None, Text("Token of the session. Only a caller that asks for it receives it.")
    ] = None


class EndedOut(BaseModel):
    """The number of sessions that were ended."""

    ended_count: Annotated[int, Text("Number of sessions that were ended.")]


@sign_in_router.post(
    "/session",
    responses={**COMMON, **refused_with(429)},
    response_model_exclude_none=True,
)
async def create_session(
    body: SignIn,
    request: Request,
    response: Response,
    context: Context,
    *,
    token: Annotated[
        bool, Query(description="Answer the token too, for callers without cookies.")
    ] = False,
) -> OpenedSessionOut:
    """Sign in; the answer sets the session's cookie."""
    if not is_own_origin(request, context.settings.allowed_origins):
        raise Forbidden("the request comes from a page of another origin")
    opened = await _sign_in(body, request, context)
    _set_cookie(response, opened.token, context)
    return OpenedSessionOut(
        name=opened.user.name,
        role=opened.user.role,
        cluster_limits=_limits(ClusterScope.of(opened.user.cluster_patterns)),
        expires_at=opened.session.expires_at,
        credential=Credential.SESSION,
        must_change_password=opened.user.must_change_password,
        token=opened.token if token else None,
    )


async def _sign_in(body: SignIn, request: Request, context: ApiContext) -> sessions.OpenedSession:
    caller = peer_of(request)
    with context.attempts.attempt(caller=caller, name=body.name):
        return await sessions.sign_in(
            user_name=body.name,
            password=body.password.get_secret_value(),
            visit=sessions.Visit(
                timedelta(hours=context.settings.session_lifetime_hours),
                caller,
                request.headers.get("user-agent", ""),
            ),
            verifier=context.verifier,
            database=context.database,
            clock=context.clock,
        )


def _set_cookie(response: Response, secret: str, context: ApiContext) -> None:
    response.set_cookie(
        COOKIE_NAME,
        secret,
        max_age=context.settings.session_lifetime_hours * 3600,
        httponly=True,
        samesite="strict",
        secure=context.settings.session_cookie_secure,
    )


@router.get("/session", responses=COMMON)
@needs(Permission.IDENTIFY)
async def show_session(principal: SignedIn) -> OwnSessionOut:
    """Describe the caller, and what the caller may not do."""
    return OwnSessionOut(
        name=principal.user_name,
        role=principal.role,
        refusals=find_refusals(principal),
        risk_max=find_risk_max(principal),
        cluster_limits=_limits(principal.clusters),
        expires_at=principal.expires_at,
        credential=principal.credential,
        must_change_password=principal.must_change_password,
    )


@router.delete("/session", status_code=HTTPStatus.NO_CONTENT, responses=COMMON)
@needs(Permission.SIGN)
async def delete_session(request: Request, response: Response, context: Context) -> None:
    """Sign out."""
    await sessions.sign_out(request.state.token, database=context.database)
    response.delete_cookie(COOKIE_NAME, httponly=True, samesite="strict")


@router.delete("/sessions/{session_id}", status_code=HTTPStatus.NO_CONTENT, responses=NOT_FOUND)
@needs(Permission.MANAGE_OWN)
async def end_session(
    session_id: UUID, context: Context, principal: SignedIn, author: ActionAuthor
) -> None:
    """End one of the caller's sessions or, as an administrator, any session."""
    await sessions.end_session(
        session_id, principal, author, database=context.database, clock=context.clock
    )


@router.delete("/sessions", responses=NOT_FOUND)
@needs(Permission.MANAGE_OWN)
async def end_sessions(
    context: Context,
    principal: SignedIn,
    author: ActionAuthor,
    _everywhere: Everywhere,
    user_name: OfUser = None,
) -> EndedOut:
    """End all sessions of the caller or, as an administrator, of any user.

    The parameter `everywhere` is required, so that a mistake in the path ends no session.
    """
    count = await sessions.end_sessions(
        user_name or principal.user_name,
        principal,
        author,
        database=context.database,
        clock=context.clock,
    )
    return EndedOut(ended_count=count)


def _limits(scope: ClusterScope) -> list[list[str]]:
    return [list(limit) for limit in scope.limits]
