"""Read each process's settings from the environment, once and frozen.

Every name has the prefix ``REGENT_``; durations and sizes carry their unit in the name. Values
that can hold a password are secrets, so that neither a log line nor a traceback shows them.
"""

from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend.domain.replica_group import LeasePolicy


class LogFormat(StrEnum):
    """Say for whom log lines are written: a person at a terminal or a collector."""

    CONSOLE = "console"
    JSON = "json"


class _Settings(BaseSettings):
    """Share the prefix and the frozenness of all settings."""

    model_config = SettingsConfigDict(env_prefix="REGENT_", frozen=True, extra="ignore")


class MigrationSettings(_Settings):
    """Hold what a migration run needs."""

    database_url: SecretStr


class ServerSettings(_Settings):
    """Hold the settings of one control plane process."""

    database_url: SecretStr
    redis_url: SecretStr
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8080, ge=0, le=65535)
    remoting_host: str = "127.0.0.1"
    remoting_port: int = Field(default=9876, ge=0, le=65535)
    lease_policy: LeasePolicy = Field(
        default=LeasePolicy.QUORUM,
        description="What masters of new broker groups need in order to acknowledge.",
    )
    unclean_election_allowed: bool = Field(
        default=False,
        description="Set to let a replica become master that may lack acknowledged messages.",
    )
    bootstrap_secret_file: Path | None = None
    console_dir: Path | None = None
    history_dir: Path | None = None
    log_format: LogFormat = LogFormat.CONSOLE
    session_lifetime_hours: int = Field(default=12, ge=1)
    session_cookie_secure: bool = Field(
        default=False, description="Set when the console is served over HTTPS."
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description="Origins besides the server's own that may use a session cookie."
    )
    shutdown_deadline_ms: int = Field(default=5_000, ge=100)


class WorkerSettings(_Settings):
    """Hold the settings of one Celery worker or beat process."""

    database_url: SecretStr
    redis_url: SecretStr
    history_dir: Path
    report_dir: Path
    log_format: LogFormat = LogFormat.CONSOLE
    events_kept_max: int = Field(default=200_000, ge=1)
    events_kept_hours: int = Field(default=72, ge=1)
