"""Score files side by side: which grader, model or group is better, and by how much."""
