"""What several sections show: forests of slices, differences, audits, relations, terms."""
