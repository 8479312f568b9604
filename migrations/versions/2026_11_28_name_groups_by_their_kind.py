"""Name the columns and keys that hold the name of a broker group or of a consumer group so.

`group_name` could mean either. The keys in stored orders and plans change with the columns, so
that operations of earlier versions are read as those of this version. What processes heard of
replicas are reports, and their table is named so.

Revision: 20261128_01
Follows: 20261127_40
"""

from alembic import op

revision = "20261128_01"
down_revision = "20261127_40"
branch_labels = None
depends_on = None

GROUP, BROKER_GROUP = "group_name", "broker_group_name"
CONSUMER_GROUP_BEFORE, CONSUMER_GROUP = "consumer_group", "consumer_group_name"
COLUMNS = (
    ("adoption_candidates", GROUP, BROKER_GROUP),
    ("replica_group_changes", GROUP, BROKER_GROUP),
    ("recorded_lags", GROUP, BROKER_GROUP),
    ("recorded_lags", CONSUMER_GROUP_BEFORE, CONSUMER_GROUP),
    ("member_contradictions", CONSUMER_GROUP_BEFORE, CONSUMER_GROUP),
)
INDEXES = ("ix_replica_group_changes_cluster_name_{}_id", "ix_recorded_lags_cluster_name_{}")
SEEN, REPORTS = "replica_sightings", "replica_reports"
REPORT_CONSTRAINTS = ("pk_{}", "fk_{}_broker_group_id_replica_groups")
KEYS = ((GROUP, BROKER_GROUP), (CONSUMER_GROUP_BEFORE, CONSUMER_GROUP))
BY_CONSUMER_GROUP = (
    "kind IN ('create_consumer_group', 'change_consumer_group', 'delete_consumer_group')"
)
"""Orders whose own `group_name` was that of a consumer group."""


def upgrade() -> None:
    for table, before, after in COLUMNS:
        op.alter_column(table, before, new_column_name=after)
    for index in INDEXES:
        op.execute(f"ALTER INDEX {index.format(GROUP)} RENAME TO {index.format(BROKER_GROUP)}")
    _rename_reports(SEEN, REPORTS)
    _rename_parameter(GROUP, CONSUMER_GROUP)
    _rename_keys("operations", "parameters", KEYS)
    _rename_keys("operations", "plan", KEYS)
    _rename_keys("operation_steps", "before", KEYS)
    _rename_keys("operation_steps", "after", KEYS)


def downgrade() -> None:
    for table, before, after in COLUMNS:
        op.alter_column(table, after, new_column_name=before)
    for index in INDEXES:
        op.execute(f"ALTER INDEX {index.format(BROKER_GROUP)} RENAME TO {index.format(GROUP)}")
    _rename_reports(REPORTS, SEEN)
    back = tuple((after, before) for before, after in KEYS)
    _rename_parameter(CONSUMER_GROUP, GROUP)
    _rename_keys("operations", "parameters", back)
    # The former version had the present names in actions, but for what a release of locks keeps.
    _rename_keys("operations", "plan", back, where="kind = 'release_locks'")
    facts = _renamed("plan->'facts'", back)
    op.execute(f"UPDATE operations SET plan = jsonb_set(plan, '{{facts}}', {facts})")  # noqa: S608


def _rename_reports(before: str, after: str) -> None:
    op.rename_table(before, after)
    for name in REPORT_CONSTRAINTS:
        names = f"{name.format(before)} TO {name.format(after)}"
        op.execute(f"ALTER TABLE {after} RENAME CONSTRAINT {names}")


def _rename_parameter(before: str, after: str) -> None:
    op.execute(
        f"UPDATE operations SET parameters = (parameters - '{before}')"  # noqa: S608 - all ours
        f" || jsonb_build_object('{after}', parameters->'{before}')"
        f" WHERE {BY_CONSUMER_GROUP} AND parameters ? '{before}'"
    )


def _rename_keys(
    table: str, column: str, names: tuple[tuple[str, str], ...], *, where: str = "true"
) -> None:
    value = _renamed(column, names)
    op.execute(f"UPDATE {table} SET {column} = {value} WHERE {where}")  # noqa: S608 - all ours


def _renamed(json: str, names: tuple[tuple[str, str], ...]) -> str:
    """Write SQL for a value of JSON with other keys: a quote within a text is escaped there."""
    text = f"({json})::text"
    for before, after in names:
        text = f"""replace({text}, '"{before}":', '"{after}":')"""
    return f"({text})::jsonb"
