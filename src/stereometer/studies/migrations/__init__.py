"""Migrations of a study's database, run by Alembic when it is opened."""
