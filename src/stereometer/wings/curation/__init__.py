"""From items to items: analyze, audit, split and write data sets."""
