"""Migrations lead from nothing to exactly the declared tables, and may run twice or at once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from backend.db.address import driver_url
from backend.db.tables import metadata
from migrations import HERE, downgrade, is_current, newest_revisions, upgrade


def test_migrations_lead_to_exactly_the_declared_tables(database_url):
    assert differences_of(database_url) == []


def test_each_migration_leads_back_and_forth_again(empty_database_url):
    history = ScriptDirectory.from_config(Config(HERE / "alembic.ini")).walk_revisions()
    revisions = [script.revision for script in history][::-1]
    assert len(revisions) > 1

    for older, newer in pairwise(["base", *revisions]):
        upgrade(empty_database_url, revision=newer)
        downgrade(empty_database_url, revision=older)
        upgrade(empty_database_url, revision=newer)
    assert differences_of(empty_database_url) == []

    downgrade(empty_database_url, revision="base")
    assert tables_of(empty_database_url) == ["alembic_version"]
    upgrade(empty_database_url)
    assert differences_of(empty_database_url) == []


def test_upgrading_twice_changes_nothing(database_url):
    upgrade(database_url)
    upgrade(database_url)


def test_the_command_upgrades_an_empty_database(empty_database_url):
    first = _run_migrations(empty_database_url)
    second = _run_migrations(empty_database_url)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr


def test_two_commands_at_once_take_turns(empty_database_url):
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(_run_migrations, [empty_database_url] * 2))

    assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]


def test_a_database_that_cannot_be_reached_is_one_line(tmp_path):
    run = _run_migrations(f"postgresql://nobody@/nothing?host={tmp_path}")

    assert run.returncode == 1
    assert len(run.stderr.strip().splitlines()) == 1


def differences_of(url):
    """Compare a database with the declared tables."""
    engine = create_engine(driver_url(url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, metadata)
    engine.dispose()
    return differences


def tables_of(url):
    engine = create_engine(driver_url(url))
    names = inspect(engine).get_table_names()
    engine.dispose()
    return names


def _run_migrations(url):
    return subprocess.run(
        [sys.executable, "-m", "migrations"],
        env={"REGENT_DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_newest_revision_is_found_without_alembic():
    # Case C12: the start of a local cluster does not wait for Alembic's imports.
    scripts = ScriptDirectory.from_config(Config(HERE / "alembic.ini"))

    assert newest_revisions() == set(scripts.get_heads())


def test_only_a_database_with_the_newest_schema_is_current(empty_database_url):
    assert not is_current(empty_database_url)

    upgrade(empty_database_url)
    assert is_current(empty_database_url)
    assert is_current(empty_database_url.replace("postgresql://", "postgresql+psycopg://"))

    downgrade(empty_database_url, revision="-1")
    assert not is_current(empty_database_url)


def test_a_database_that_does_not_answer_is_not_current(tmp_path):
    assert not is_current(f"postgresql:///regent?host={tmp_path}")
