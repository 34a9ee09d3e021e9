"""The problem file: schema, statement, reference DAG and expected numbers."""
