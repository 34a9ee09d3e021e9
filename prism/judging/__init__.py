"""Ask a judge model what no rule decides, keep what it says, and make findings of it that protocols read.

Grading calls no model, and nothing below this folder imports it. What a judge says is data: `prism judge` writes a
findings file, and `prism protocol`, `agree` and `report` read it beside what rules decide.

- `tasks` loads a task: a folder with prompts, schemas of the replies, and a template of the findings (`shipped/`).
- `items` reads what it is asked about, with the readers of the protocols.
- `conversations` says what is to be asked of an item, from the replies that are kept and read (`replies`).
- `running` asks: the network by `endpoint`, at the pace and within the limits of `pacing`; or the files of a batch.
- `results` makes the lines that are written.
"""
