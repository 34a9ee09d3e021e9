"""What the server has done and how it stands, in Prometheus' text format (`/metrics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prism.resources import meanings

TYPE = "text/plain; version=0.0.4; charset=utf-8"

_HELP: Mapping[str, str] = meanings("server.help")


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value of this moment; `queue` is its label, empty for none."""

    name: str
    value: float
    queue: str = ""


class Metrics:
    """Counters; for one event loop only."""

    def __init__(self) -> None:
        """Start all counters at 0; those without labels are shown from the start."""
        self._counts: Counter[tuple[str, str]] = Counter()
        for name in ("operations", "trials_exceeded", "clients_gone", "connections_refused"):
            self._counts[name, ""] = 0
        for outcome in ("graded", "killed", "cancelled"):
            self._counts["solutions", _labelled({"outcome": outcome})] = 0

    def add(self, name: str, amount: int = 1, **labels: str) -> None:
        """Count; a label's value is one of a closed set, never a client's text."""
        self._counts[name, _labelled(labels)] += amount

    def text(self, gauges: Iterable[Gauge]) -> bytes:
        """Return all values in Prometheus' text format."""
        values = {(f"{name}_total", labels): float(count) for (name, labels), count in self._counts.items()}
        for gauge in gauges:
            values[gauge.name, _labelled({"queue": gauge.queue} if gauge.queue else {})] = gauge.value
        lines = []
        told = ""
        for name, labels in sorted(values):
            if name != told:
                kind = "counter" if name.endswith("_total") else "gauge"
                lines += [f"# HELP prism_{name} {_HELP[name]}", f"# TYPE prism_{name} {kind}"]
                told = name
            lines.append(f"prism_{name}{labels} {values[name, labels]:.10g}")
        return ("\n".join(lines) + "\n").encode()


def _labelled(labels: dict[str, str]) -> str:
    """Return labels as they stand behind a name."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""
