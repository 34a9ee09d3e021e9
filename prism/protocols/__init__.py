"""Scoring protocols beside the closure score: other arithmetic over the same matches, exact, in ordinary score rows.

To add a protocol NAME:

1. `prism/protocols/NAME.py` computes rows. Findings come from rules where a rule can decide, from a findings file where
   none can, and are null where neither does: `rows.settle(by_rules, by_file, prefer_rules=...)` says what counts and
   on what basis. All arithmetic is in `fractions.Fraction`.

   - Rollouts that are graded by rule: `graded_rollouts.grade_rollouts(problems, rollouts, then=..., workers=...)`
     yields one `GradedRollout` each, in input order: `.problem`, `.reference` (the DAG that the grade is of),
     `.rollout`, `.grade`, `.more` (what `then` returned, such as the `Diagnosis` of `graded_rollouts.diagnosed`), and
     `.about`, the part of a row that says what it is about. Costly work of your own belongs into a `then` of yours (a
     function of a module: `then(prepared, rollout, grade)`), for workers do it. Where `.grade.score` is None the grader
     failed: give a row without parts, with the score None and the bounds 0 and 1, and `.about` brings status and
     incidents.
   - Findings: `entry_files.read_entries(path, read)` reads a file of objects (JSON Lines, a JSON list, JSON in a code
     fence or cut off) and raises all faults at once. A dataclass says what an object holds, by the types of
     `prism.problem.shapes` (`Id`, `Text`, `Flag`, `whole_number`, `exact_number`, `one_of`); `read` is `of_shape` of
     it, or a function that holds the table to it with `read_shape` and adds faults that no type says. Put
     the `notes` of the entries a row is made of into its notes, and their `sha256` into `about` (`dataclasses.replace(
     about, findings_sha256=entry.sha256)`; of several, `entry_files.joined_sha256`).
   - A row is `rows.ProtocolRow(protocol=, variant=, about=, score=, score_low=, score_high=, parts=, scale=, policies=,
     final_correct=, settings=, notes=)`, a part `rows.Part(name, score, basis, findings)`. `settings` holds what was
     chosen for the run and is the same in all its rows (it makes the grader's fingerprint; counts of one row belong
     into `notes`). Names of policies begin with `NAME_`; the score is there as `NAME` without being given.
   - A note begins with a fixed head, and what differs from row to row stands behind a colon: `total: 7 in the file, 11
     from its penalties`. Summaries count rows by head.

2. `prism/cli/protocols/NAME.py` holds the command: `@protocols.command("NAME")` on `prism.cli.protocols.protocols`. The
   options that all protocols share are types there (`Out`, `Workers`, `Mapping`, `Keep`, `SkipUnknown`, `Thinking`,
   `MaxIncidents`, `PreferRules`; `AsJson` and `Force` come from `prism.cli.options`). Call `prepare_output(out,
   force=)` first, `graded_input(...)` for PROBLEMS ROLLOUTS, and `finish(rows, protocol=, variant=, out=, as_json=,
   max_incidents=)` last: it writes the rows, prints the table or the JSON, and exits with the codes of `prism run`.
   Wrap what may raise in `with faults_told():`. One line in `prism/cli/__init__.py` registers the module.

3. `docs/reference/protocol_NAME.md` is the page (one line in `mkdocs.yml`, one in `docs/README.md`). A findings format
   has its JSON Schema in `prism/protocols/schemas/NAME.schema.json`, which `prism protocol schema NAME` prints, and a
   test that holds it to the reader.

Protocols stand beside `reports`: neither imports the other. Reports read the rows from files, as they read all rows.
"""
