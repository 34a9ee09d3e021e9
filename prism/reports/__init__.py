"""Reports on score rows: comparison of two runs, gates, agreement of raters, tables, HTML pages."""
