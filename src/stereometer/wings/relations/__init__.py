"""What stored runs say: compared, combined, related, held against people."""
