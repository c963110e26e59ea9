"""What several sections show: forests of slices and terms, differences, audits, series."""
