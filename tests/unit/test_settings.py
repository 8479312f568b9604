"""An invalid value in the environment of a process is refused at its start."""

import pytest
from pydantic import ValidationError

from backend.settings import ServerSettings, WorkerSettings, faults_of

GOOD = {
    "DATABASE_URL": "postgresql:///regent?host=/run/postgresql",
    "REDIS_URL": "unix:///run/redis.sock",
    "HISTORY_DIR": "/history",
    "REPORT_DIR": "/reports",
}


@pytest.fixture
def read(monkeypatch):
    def settings(kind=ServerSettings, **values):
        for name, value in {**GOOD, **values}.items():
            monkeypatch.setenv(f"REGENT_{name}", value)
        return kind()

    return settings


@pytest.mark.parametrize("kind", [ServerSettings, WorkerSettings])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", ""),
        ("DATABASE_URL", "secret"),
        ("DATABASE_URL", "mysql://u:secret@h/db"),
        ("DATABASE_URL", "postgresql://u:secret@h:port/db"),
        ("REDIS_URL", ""),
        ("REDIS_URL", "secret"),
        ("REDIS_URL", "redis://:secret@h:port/0"),
        ("REDIS_URL", "redis://:secret@h:1/0?db=x"),
        ("EVENTS_KEPT_HOURS", "9" * 15),
        ("EVENTS_KEPT_MAX", "9" * 30),
    ],
)
def test_what_no_process_can_work_with_is_named_and_not_shown(read, kind, name, value):
    with pytest.raises(ValidationError) as refused:
        read(kind, **{name: value})

    reported = faults_of(refused.value)
    assert reported.startswith(f"REGENT_{name} ")
    assert "secret" not in reported


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SESSION_LIFETIME_HOURS", "9" * 11),
        ("SHUTDOWN_DEADLINE_MS", "9" * 20),
        ("ALLOWED_ORIGINS", "console"),
        ("ALLOWED_ORIGINS", '["https://console"'),
        ("ALLOWED_ORIGINS", "https://console/"),
    ],
)
def test_what_no_server_can_work_with_is_named(read, name, value):
    with pytest.raises(ValidationError) as refused:
        read(**{name: value})

    assert faults_of(refused.value).startswith(f"REGENT_{name} ")


@pytest.mark.parametrize("value", ["https://a,http://b:8080", '["https://a", "http://b:8080"]'])
def test_origins_are_listed_with_commas_or_as_json(read, value):
    assert read(ALLOWED_ORIGINS=value).allowed_origins == ("https://a", "http://b:8080")


@pytest.mark.parametrize("name", ["CONSOLE_DIR", "HTTP_HOST", "ALLOWED_ORIGINS", "SECOND_PERSON"])
def test_a_variable_that_is_empty_is_read_as_not_set(read, name):
    unset = read()

    assert read(**{name: ""}) == unset
