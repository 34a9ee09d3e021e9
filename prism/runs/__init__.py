"""Many rollouts: records in, worker processes, score rows out."""
