"""Have events numbered by a function: one statement instead of a transaction of three.

Revision: 20261125_01
Follows: 20261123_02
"""

from alembic import op

revision = "20261125_01"
down_revision = "20261123_02"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The lock is taken in a statement before, so that what the last holder left is seen.
    op.execute("""
CREATE FUNCTION number_staged_events(at_most bigint, channel text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
    given bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM staged_events) THEN
        RETURN 0;
    END IF;
    SELECT newest_number INTO STRICT newest FROM event_stream FOR UPDATE;
    WITH taken AS (
        DELETE FROM staged_events
         WHERE id IN (SELECT id FROM staged_events ORDER BY id LIMIT at_most)
     RETURNING *),
    numbered AS (
        INSERT INTO events (
            number, kind, cluster_name, subject, happened_at, details, operation_id)
        SELECT newest + row_number() OVER (ORDER BY id),
               kind, cluster_name, subject, happened_at, details, operation_id
          FROM taken
     RETURNING number)
    SELECT count(*) INTO given FROM numbered;
    IF given > 0 THEN
        UPDATE event_stream SET newest_number = newest + given;
        PERFORM pg_notify(channel, '');
    END IF;
    RETURN given;
END
$$
""")


def downgrade() -> None:
    op.execute("DROP FUNCTION number_staged_events(bigint, text)")
