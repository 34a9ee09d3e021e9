"""A training file for verl: one row a problem, its whole problem file as a JSON string in `ground_truth`.

    python examples/verl/make_data.py dags train.parquet

Writes with pandas and pyarrow, which verl brings along. A row needs nothing beside it: the reference travels with the
data. Where problem files stand on every node, `ground_truth` may stay the id that `prompt_rows` puts there, and
`problems=` names the folder.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from prism.rewards.verl import prompt_rows


def rows(folder: Path) -> list[dict[str, Any]]:
    """What verl reads of each problem, in the order of the files' names, and PRISM's reference."""
    files = sorted(folder.glob("*.toml"))
    made = prompt_rows(files)
    for path, row in zip(files, made, strict=True):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        table.pop("students", None)  # worked solutions have no place in training data
        row["reward_model"]["ground_truth"] = json.dumps(table)
    return made


def main(folder: str, out: str) -> None:
    """Write a row for each problem file of the folder."""
    import pandas as pd

    made = rows(Path(folder))
    pd.DataFrame(made).to_parquet(out)
    print(f"{out}: {len(made)} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
