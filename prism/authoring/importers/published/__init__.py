"""The published data sets that are read by name, one a module."""
