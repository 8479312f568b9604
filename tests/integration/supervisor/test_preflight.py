"""What stops a local cluster before anything starts, each as one clear line."""

import errno
import os
import shutil
import socket
from pathlib import Path
from typing import NamedTuple

import pytest

from backend.supervisor import preflight
from backend.supervisor.cluster import ClusterOptions, run_cluster
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout, plan_layout
from tests.ports import free_port


class DiskUsage(NamedTuple):
    total: int
    used: int
    free: int


def a_layout(data_dir: Path, **ports: int) -> ClusterLayout:
    chosen = {"http_port": free_port(), "remoting_port": free_port(), "broker_port": free_port()}
    return plan_layout(data_dir=data_dir, replica_counts={"broker-a": 1}, **(chosen | ports))


def test_a_port_in_use_is_named_with_its_option(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        layout = a_layout(tmp_path, remoting_port=port)

        with pytest.raises(CannotStart) as refused:
            preflight.check_ports(layout)

    assert f"port {port} of the name server is in use" in str(refused.value)
    assert "--remoting-port" in str(refused.value)


def test_ports_that_collide_with_each_other_are_refused(tmp_path: Path):
    port = free_port()
    layout = a_layout(tmp_path, http_port=port, remoting_port=port)

    with pytest.raises(CannotStart, match="share a port"):
        preflight.check_ports(layout)


def test_a_broker_port_beyond_the_last_one_is_refused(tmp_path: Path):
    layout = plan_layout(
        data_dir=tmp_path,
        http_port=free_port(),
        remoting_port=free_port(),
        broker_port=65530,
        replica_counts={"broker-a": 1, "broker-b": 1},
    )

    with pytest.raises(CannotStart, match="65540 of broker-b is outside"):
        preflight.check_ports(layout)


def test_a_nearly_full_disk_is_reported_before_anything_is_written(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(1 << 40, 1 << 40, 5 << 20))

    with pytest.raises(CannotStart, match=r"only 5 MiB are free .* --data DIR"):
        preflight.check_disk(a_layout(tmp_path))


def test_one_directory_runs_one_cluster(tmp_path: Path):
    layout = a_layout(tmp_path)

    with (
        preflight.exclusive_directory(layout),
        pytest.raises(CannotStart, match="in use by another"),
        preflight.exclusive_directory(layout),
    ):
        pass


def test_the_bootstrap_secret_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path):
    path = tmp_path / "bootstrap-secret"

    first = preflight.ensure_bootstrap_secret(path)
    second = preflight.ensure_bootstrap_secret(path)

    assert first == second
    assert len(first) >= 24
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_start_that_was_cut_off_leaves_no_secret_without_content(tmp_path: Path, monkeypatch):
    path = tmp_path / "bootstrap-secret"

    def fill_up(*_: object, **__: object):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fdopen", fill_up)
        with pytest.raises(CannotStart, match=r"the disk of .* is full"):
            preflight.ensure_bootstrap_secret(path)

    assert not path.exists()
    assert preflight.ensure_bootstrap_secret(path)


def test_an_empty_secret_with_which_no_user_could_sign_in_is_made_again(tmp_path: Path):
    path = tmp_path / "bootstrap-secret"
    path.touch()

    secret = preflight.ensure_bootstrap_secret(path)

    assert len(secret) >= 24
    assert path.read_text().strip() == secret
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_refused_start_is_one_line_and_exit_code_one(tmp_path: Path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = ClusterOptions(
            data_dir=tmp_path / "data",
            http_port=taken.getsockname()[1],
            remoting_port=free_port(),
            broker_port=free_port(),
            group_count=1,
            replica_count=None,
        )

        code = run_cluster(options)

    assert code == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(CannotStart, match="--data DIR"):
        preflight.prepare_directories(a_layout(tmp_path / "file"))
