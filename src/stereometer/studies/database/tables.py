"""The tables. Times are seconds since 1970; a participant's number is drawn at random."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

versions = Table(
    "versions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("files", Text, nullable=False),
    Column("at", Float, nullable=False),
)

participants = Table(
    "participants",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("person", String(64), nullable=False, unique=True),
    Column("visit", String(64), nullable=False),
    Column("version", Integer, ForeignKey("versions.number"), nullable=False),
    Column("panel", String(32), nullable=False),
    Column("language", String(16), nullable=False),
    Column("consented_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("outcome", String(16)),
    Column("failed_checks", Text, nullable=False, server_default="[]"),
)

leases = Table(
    "leases",
    metadata,
    Column("participant", String(32), ForeignKey("participants.id"), nullable=False),
    Column("unit", String(200), nullable=False),
    Column("place", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("expires_at", Float, nullable=False),
    UniqueConstraint("participant", "unit"),
    Index("leases_by_state", "state", "expires_at", "unit"),
)

answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("participant", String(32), ForeignKey("participants.id"), nullable=False),
    Column("page", String(64), nullable=False),
    Column("unit", String(200)),
    Column("sent", Text, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("participant", "page"),
)

payments = Table(
    "payments",
    metadata,
    Column("participant", String(32), primary_key=True),
    Column("ids", Text, nullable=False),
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("participant", String(32), primary_key=True),
    Column("beside", Text, nullable=False, server_default="[]"),
    Column("at", Float, nullable=False),
)

controls = Table(
    "controls",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),
)
