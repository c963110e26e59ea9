"""Values that papers and boards published, with their sources; beside ours where all agrees."""
