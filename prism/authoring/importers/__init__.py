"""Import published data sets by name: `catalogue` lists them, `importing` converts a file, `dataset_lint` checks one.

One module a data set reads its rows into the values of `entries`; everything after that is common ground. Nothing is
downloaded, no code of a data set is run, and a row that cannot be read is told with its reason, never dropped.
"""
