"""Many workers, one driver: windows of requests go out, answers come back, faults are mended."""
