"""What is made of score rows: comparison, gates, agreement, tables, pages."""
