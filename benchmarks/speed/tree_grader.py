r"""Grade solutions with any checkout of this project and time each: JSON `[problem, texts]` a line in, times out.

The first argument is the checkout. A line out is `["graded", figures]`: `cpu`, processor seconds of each text in their
order, `preparing`, those of the problem, and `formulas` and `cost` of each text. Before each line the process forgets
all formulas, pairs and problems, so that its first text is new and the others come to a warm group.

    python -P -s benchmarks/speed/tree_grader.py FOLDER
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

MEMORIES = Path(__file__).resolve().parents[1] / "memories.py"
FIRST = [{"id": "first", "context": "", "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [],
          "is_final_answer": True}]}, ["$v = g t$"]]  # fmt: skip


def forget() -> None:
    """Empty what the process remembers, whatever checkout it runs."""
    spec = importlib.util.spec_from_file_location("memories", MEMORIES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.forget()


def graded(problem: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """Times of one group."""
    import prism

    forget()
    start = time.process_time()
    prepared = prism.prepare(problem)
    preparing = time.process_time() - start
    cpu, formulas, costs = [], [], []
    for text in texts:
        start = time.process_time()
        found = prism.grade(prepared, text)
        cpu.append(time.process_time() - start)
        formulas.append(len(found.formulas))
        costs.append(found.cost)
    return {"preparing": preparing, "cpu": cpu, "formulas": formulas, "cost": costs}


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(tree))
    import prism

    assert Path(prism.__file__).is_relative_to(tree), prism.__file__
    prism.warm()
    graded(*FIRST)  # type: ignore[arg-type]  # whatever is loaded on first use
    print(json.dumps({"prism": prism.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(["graded", graded(*json.loads(line))]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
