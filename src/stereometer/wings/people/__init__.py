"""Studies with people: they write items, judge them, or rate groups, in the browser."""

from stereometer.core.types.packages import check_packages

NEEDED = "fastapi uvicorn python_multipart itsdangerous sqlalchemy alembic markdown_it rapidfuzz"
check_packages("Studies", NEEDED.split(), "web")  # before an import fails on one that is missing
