"""For authors of problems: lint, draft and convert problem files."""
