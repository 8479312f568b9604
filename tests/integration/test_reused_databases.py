"""A database that is used again is as one that was just migrated."""

import psycopg
import pytest


def content(url):
    """Count the rows of each table."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()
            for (name,) in tables.fetchall()
        }


def spoil(url, statement):
    with psycopg.connect(url) as connection:
        connection.execute(statement)


def test_rows_and_numbers_of_a_test_are_gone(reused_databases):
    with reused_databases.fresh() as url:
        before = content(url)
        spoil(url, "DELETE FROM alembic_version")
        spoil(url, "INSERT INTO clusters (name, created_at) VALUES ('a', now()), ('b', now())")
        assert content(url) != before

    with reused_databases.fresh() as again:
        assert again == url
        assert content(again) == before
        with psycopg.connect(again) as connection:
            (number,) = connection.execute(
                "INSERT INTO clusters (name, created_at) VALUES ('c', now()) RETURNING id"
            ).fetchone()
        assert number == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE clusters RENAME TO away",
        "ALTER TABLE clusters ADD COLUMN more text",
        "CREATE TABLE more (n bigint)",
    ],
)
def test_a_database_with_another_schema_is_not_used_again(reused_databases, statement):
    with reused_databases.fresh() as url:
        spoil(url, statement)

    with reused_databases.fresh() as another:
        assert another != url


def test_a_database_whose_connections_a_test_has_all_ended_is_emptied(reused_databases):
    with reused_databases.fresh() as url:
        before = content(url)
        spoil(url, "INSERT INTO clusters (name, created_at) VALUES ('a', now())")
        spoil(
            url,
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )

    with reused_databases.fresh() as again:
        assert again == url
        assert content(again) == before


def test_connections_that_a_test_has_left_are_ended(reused_databases):
    with reused_databases.fresh() as url:
        left = psycopg.connect(url)
        left.execute("SELECT 1")

    with pytest.raises(psycopg.OperationalError):
        left.execute("INSERT INTO clusters (name, created_at) VALUES ('late', now())")
    left.close()
