"""What the server has done and how it stands, in Prometheus' text format (`/metrics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

TYPE = "text/plain; version=0.0.4; charset=utf-8"

_HELP = {
    "requests_total": "Requests answered, by route and HTTP status.",
    "solutions_total": "Solutions that are done with: graded, killed, or cancelled as the client had gone.",
    "operations_total": "Operations really done for solutions, trials included; what workers remember counts nothing.",
    "trials_exceeded_total": "Trials of solutions that were given up; these are tried or graded again as dear ones.",
    "clients_gone_total": "Requests whose client hung up before the answer.",
    "connections_refused_total": "Connections refused because too many were open.",
    "connections_closed_total": "Connections closed: idle for another, headers late, answer not taken.",
    "requests_in_flight": "Requests that wait or are graded.",
    "bytes_in_flight": "Bytes of bodies that are being read, wait or are graded.",
    "clients": "Clients with solutions that wait or are graded.",
    "admitted_operations": "Operations that the unfinished solutions may cost at most.",
    "waiting_solutions": "Solutions in a queue.",
    "running_solutions": "Solutions that workers are grading.",
    "oldest_seconds": "Age of the oldest solution that waits or is graded.",
    "workers_alive": "Worker processes that live.",
    "workers_ended_total": "Worker processes that died or were killed since they were ready.",
}


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
