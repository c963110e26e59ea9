"""The browser and a report, for every page test."""

from tests.builders.pages import browser, found, report

__all__ = ["browser", "found", "report"]
