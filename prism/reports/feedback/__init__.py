"""Feedback for a class: marks by rule with a marker's corrections beside them, a page for each student, a gradebook."""
