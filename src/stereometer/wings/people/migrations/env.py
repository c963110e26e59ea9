"""How Alembic reaches the database: over the connection that `open_database` hands it."""

from alembic import context

from stereometer.wings.people.database import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
