"""The containers, as far as they can be checked without an engine: linters and references."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
COMPOSE = ROOT / "compose.yaml"
DOCKERFILE = ROOT / "backend" / "Dockerfile"


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load(COMPOSE.read_text())


def test_the_dockerfile_passes_its_linter():
    result = subprocess.run(
        [BIN / "hadolint", DOCKERFILE], check=False, capture_output=True, text=True
    )

    assert result.returncode == 0, result.stdout


def test_the_compose_file_passes_its_linter():
    result = subprocess.run(
        [BIN / "compose-lint", COMPOSE], check=False, capture_output=True, text=True
    )

    assert result.returncode == 0, result.stdout


def test_compose_starts_every_process_of_the_design(compose):
    assert set(compose["services"]) == {
        *("postgres", "redis", "migrate", "control-plane", "worker", "beat"),
        *("broker-a", "broker-b"),
    }


def test_every_command_of_compose_exists_on_the_command_line(compose):
    commands = [
        service["command"][1]
        for service in compose["services"].values()
        if service.get("command", [""])[0] == "run"
    ]

    assert sorted(set(commands)) == ["beat", "broker", "server", "worker"]
    for name in set(commands):
        result = subprocess.run(
            [BIN / "regent", "run", name, "--help"], check=False, capture_output=True
        )
        assert result.returncode == 0


def test_every_file_that_the_dockerfile_copies_exists():
    missing = [
        source
        for line in DOCKERFILE.read_text().splitlines()
        if line.startswith("COPY ") and "--from=" not in line
        for source in line.split()[1:-1]
        if not (ROOT / source).exists()
    ]

    assert missing == []


def test_no_broker_container_holds_a_database_credential(compose):
    brokers = [s for name, s in compose["services"].items() if name.startswith("broker-")]

    assert brokers
    assert [b["environment"] for b in brokers if "REGENT_DATABASE_URL" in b["environment"]] == []
