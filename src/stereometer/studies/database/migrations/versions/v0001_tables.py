"""The tables, and triggers that refuse to change an answer.

There is no way back: a study's answers are restored from a backup.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
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
    op.create_table(
        "participants",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("person", sa.String(64), nullable=False, unique=True),
        sa.Column("panel", sa.String(32), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("consented_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float),
        sa.Column("outcome", sa.String(16)),
        sa.Column("failed_checks", sa.Text, nullable=False, server_default="[]"),
    )
    op.create_table(
        "leases",
        sa.Column("participant", sa.String(32), sa.ForeignKey("participants.id"), nullable=False),
        sa.Column("unit", sa.String(200), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.UniqueConstraint("participant", "unit"),
    )
    op.create_index("leases_by_state", "leases", ["state", "expires_at", "unit"])
    op.create_table(
        "answers",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("participant", sa.String(32), sa.ForeignKey("participants.id"), nullable=False),
        sa.Column("page", sa.String(64), nullable=False),
        sa.Column("unit", sa.String(200)),
        sa.Column("sent", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.UniqueConstraint("participant", "page"),
    )
    op.create_table(
        "payments",
        sa.Column("participant", sa.String(32), primary_key=True),
        sa.Column("ids", sa.Text, nullable=False),
    )
    op.create_table(
        "tombstones",
        sa.Column("participant", sa.String(32), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "controls",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    for statement in (SQLITE,) if op.get_bind().dialect.name == "sqlite" else POSTGRES:
        op.execute(statement)
