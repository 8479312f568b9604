"""Sign in and out over REST."""

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, SecretStr

from backend.api.context import Context, SignedIn
from backend.api.gate import COOKIE_NAME, is_own_origin
from backend.api.rest.errors import COMMON, ErrorOut
from backend.domain.errors import Forbidden
from backend.domain.session import (
    PASSWORD_LENGTH_MAX,
    USER_NAME_LENGTH_MAX,
    Session,
)
from backend.services.sessions import sign_in, sign_out

router = APIRouter(tags=["session"])


class SignIn(BaseModel):
    """A name and what proves it."""

    name: str = Field(min_length=1, max_length=USER_NAME_LENGTH_MAX)
    password: SecretStr = Field(max_length=PASSWORD_LENGTH_MAX)


class SessionOut(BaseModel):
    """Who is signed in, and until when."""

    name: str
    role: str
    expires_at: datetime


class OpenedSessionOut(SessionOut):
    """A new session; the token is told only to who asks for it."""

    token: str | None = None


@router.post(
    "/session",
    responses={**COMMON, 429: {"model": ErrorOut}},
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
    settings = context.settings
    if not is_own_origin(request, settings.allowed_origins):
        raise Forbidden("the request comes from a page of another origin")
    caller = request.client.host if request.client else ""
    context.attempts.check(caller=caller, name=body.name)
    # Counted before it is known to fail, so that many at once do not pass together.
    context.attempts.note_failure(caller=caller, name=body.name)
    opened = await sign_in(
        user_name=body.name,
        password=body.password.get_secret_value(),
        lifetime=timedelta(hours=settings.session_lifetime_hours),
        verifier=context.verifier,
        database=context.database,
        clock=context.clock,
    )
    context.attempts.note_success(caller=caller, name=body.name)
    response.set_cookie(
        COOKIE_NAME,
        opened.token,
        max_age=settings.session_lifetime_hours * 3600,
        httponly=True,
        samesite="strict",
        secure=settings.session_cookie_secure,
    )
    out = session_out(opened.session)
    return OpenedSessionOut(**out.model_dump(), token=opened.token if token else None)


@router.get("/session", responses=COMMON)
async def show_session(session: SignedIn) -> SessionOut:
    """Answer who is signed in."""
    return session_out(session)


@router.delete("/session", status_code=HTTPStatus.NO_CONTENT, responses=COMMON)
async def delete_session(request: Request, response: Response, context: Context) -> None:
    """Sign out."""
    await sign_out(request.state.token, database=context.database)
    response.delete_cookie(COOKIE_NAME, httponly=True, samesite="strict")


def session_out(session: Session) -> SessionOut:
    """Present a session."""
    return SessionOut(
        name=session.user_name, role=session.role.value, expires_at=session.expires_at
    )
