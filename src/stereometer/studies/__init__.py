"""Studies with people: they write items, judge them, or rate groups, in the browser."""

from stereometer.studies.packages import check_packages

check_packages()
