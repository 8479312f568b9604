"""Read each process's settings from the environment, once and frozen.

Every name has the prefix ``REGENT_``; durations and sizes carry their unit in the name. Values
that can hold a password are secrets, so that neither a log line nor a traceback shows them.
"""

import json
import re
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from redis.asyncio.connection import parse_url

from backend.domain.operation_approval import SecondPerson
from backend.domain.replica_group import LeasePolicy
from backend.domain.retention import RetentionPolicy


def faults_of(error: ValidationError) -> str:
    """Say in one line which variables are missing or wrong, and nothing of what they hold."""
    faults = (
        (str(fault["loc"][0]).upper(), fault["msg"].removeprefix("Value error, ").lower())
        for fault in error.errors(include_input=False)
    )
    return "; ".join(f"REGENT_{name} {what}" for name, what in faults)


def _check_database_url(given: SecretStr) -> SecretStr:
    if not _DATABASE_URL.fullmatch(given.get_secret_value()):
        # The error shows no part of the address: any part could be the password.
        raise ValueError("is no address like postgresql://user@host:5432/name")
    return given


def _check_redis_url(given: SecretStr) -> SecretStr:
    try:
        parse_url(given.get_secret_value())
    except ValueError:
        raise ValueError("is no address like redis://host:6379/0 or unix:///socket") from None
    return given


def _read_origins(given: Any) -> Any:
    """Read what a variable lists, with commas between or as JSON."""
    if not isinstance(given, str):
        return given
    return json.loads(given) if given.startswith("[") else given.split(",")


def _check_origin(given: str) -> str:
    if not _ORIGIN.fullmatch(given):
        raise ValueError("is no origin like https://host or https://host:8443")
    return given


_ORIGIN: Final = re.compile(r"https?://[^/?#\s]+")
_DATABASE_URL: Final = re.compile(
    r"postgres(?:ql)?(?:\+\w+)?://(?:.*@)?(?:\[[^\]]+\]|[^/?:@]*)(?::\d+)?(?:[/?].*)?", re.DOTALL
)
"""Scheme, user and password, host, port, database and options.

SQLAlchemy's parser would take a quarter of a second to import, also in the scheduler.
"""
_HOURS_MAX: Final = 36_500 * 24

DatabaseUrl = Annotated[SecretStr, AfterValidator(_check_database_url)]
RedisUrl = Annotated[SecretStr, AfterValidator(_check_redis_url)]
Origin = Annotated[str, AfterValidator(_check_origin)]
Origins = Annotated[tuple[Origin, ...], NoDecode, BeforeValidator(_read_origins)]


class LogFormat(StrEnum):
    """Name the reader of log lines: a person at a terminal or a collector."""

    CONSOLE = "console"
    JSON = "json"


class _Settings(BaseSettings):
    """Share the prefix and the frozenness of all settings; an empty variable is as one not set."""

    model_config = SettingsConfigDict(
        env_prefix="REGENT_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )


class _RetentionSettings(_Settings):
    """Say how long what has happened is kept; server and workers read the same."""

    history_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Changes of broker groups."
    )
    operations_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Operations that have ended."
    )
    findings_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Findings and incidents that are over."
    )
    audit_kept_days: int = Field(default=1_095, ge=30, le=36_500, description="The audit.")
    samples_kept_days: int = Field(
        default=400, ge=7, le=36_500, description="Parquet history of samples, by whole days."
    )
    events_kept_max: int = Field(default=200_000, ge=1, le=1_000_000_000)
    events_kept_hours: int = Field(default=72, ge=1, le=_HOURS_MAX)

    @property
    def retention(self) -> RetentionPolicy:
        """Return how long each subject is kept."""
        return RetentionPolicy(
            group_changes=timedelta(days=self.history_kept_days),
            operations=timedelta(days=self.operations_kept_days),
            findings=timedelta(days=self.findings_kept_days),
            incidents=timedelta(days=self.findings_kept_days),
            audit=timedelta(days=self.audit_kept_days),
            samples=timedelta(days=self.samples_kept_days),
            events=timedelta(hours=self.events_kept_hours),
            events_max=self.events_kept_max,
        )


class MigrationSettings(_Settings):
    """Hold what a migration run needs."""

    database_url: DatabaseUrl


class ServerSettings(_RetentionSettings):
    """Hold the settings of one control plane process."""

    database_url: DatabaseUrl
    redis_url: RedisUrl
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8080, ge=0, le=65535)
    remoting_host: str = "127.0.0.1"
    remoting_port: int = Field(default=9876, ge=0, le=65535)
    lease_policy: LeasePolicy = Field(
        default=LeasePolicy.QUORUM,
        description="What masters of new broker groups need to acknowledge a message.",
    )
    unclean_election_allowed: bool = Field(
        default=False,
        description="Allow a replica without all acknowledged messages to become master.",
    )
    second_person: SecondPerson = Field(
        default=SecondPerson.NONE,
        description="Lowest risk class that needs the approval of another user.",
    )
    bootstrap_secret_file: Path | None = None
    console_dir: Path | None = None
    history_dir: Path | None = None
    log_format: LogFormat = LogFormat.CONSOLE
    session_lifetime_hours: int = Field(default=12, ge=1, le=_HOURS_MAX)
    session_cookie_secure: bool = Field(
        default=False, description="Set when the console is served over HTTPS."
    )
    allowed_origins: Origins = Field(
        default=(), description="Origins besides the server's own that may use a session cookie."
    )
    shutdown_deadline_ms: int = Field(default=5_000, ge=100, le=86_400_000)


class WorkerSettings(_RetentionSettings):
    """Hold the settings of one Celery worker or beat process."""

    database_url: DatabaseUrl
    redis_url: RedisUrl
    history_dir: Path
    report_dir: Path
    log_format: LogFormat = LogFormat.CONSOLE
