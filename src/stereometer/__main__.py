"""`python -m stereometer`."""

from stereometer.cli import main

main()
