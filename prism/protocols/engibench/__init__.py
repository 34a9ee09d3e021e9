"""EngiBench: answers, rubrics and levels."""
