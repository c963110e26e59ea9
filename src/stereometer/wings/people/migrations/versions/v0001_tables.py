"""The tables, and triggers that refuse to change an answer.

There is no way back: a study's answers are restored from a backup.
"""

from alembic import op

from stereometer.wings.people.database import metadata

revision = "stereometer_study_1"
down_revision = None

SQLITE = """
CREATE TRIGGER answers_stay BEFORE UPDATE ON answers
BEGIN SELECT RAISE(ABORT, 'an answer is never changed'); END
"""
POSTGRES = (
    """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'an answer is never changed'; END $$
""",
    """
CREATE TRIGGER answers_stay BEFORE UPDATE ON answers
FOR EACH ROW EXECUTE FUNCTION refuse_change()
""",
)


def upgrade() -> None:
    metadata.create_all(op.get_bind())
    for statement in (SQLITE,) if op.get_bind().dialect.name == "sqlite" else POSTGRES:
        op.execute(statement)
