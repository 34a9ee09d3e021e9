"""EngJudge: stages of solutions, findings and their penalties."""
