"""What stored runs say together: related, combined, held to what is chosen in words."""
