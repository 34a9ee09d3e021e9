"""A run that is killed again and again, at an endpoint that does much wrong, comes to what an undisturbed one does."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from pathlib import Path

import pytest

from prism.judging.replies import ReplyFile
from tests.judging import killed_child
from tests.support.imitation import Imitation, Request, imitating

FAULTS = ("busy", "dropped", "broken", "html", "fenced", "slow", "cut", "refusing", "misfit", "two", "deep", "empty")
PASSING = ("busy", "dropped", "broken", "html")
CALLS_A_SOLUTION = 11


def behave(request: Request) -> str:
    """One request in ten goes wrong; what passes goes wrong once."""
    if request.number % 10:
        return "good"
    fault = FAULTS[request.number // 10 % len(FAULTS)]
    return "good" if fault in PASSING and request.n_before else fault


def write_rollouts(path: Path, n: int) -> None:
    lines = (
        {"problem_id": "free_fall", "id": f"s{k}", "response": f"$v = g t$, $s = {k} t$, so $v_f = \\sqrt{{2gh}}$"}
        for k in range(n)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


class Killer:
    """Sends the child a signal when the endpoint has got so many requests from it."""

    def __init__(self, own: Imitation, after: int, signal_sent: signal.Signals = signal.SIGKILL) -> None:
        self.after, self.n, self.signal_sent = after, 0, signal_sent
        self.pid = 0
        self.lock = threading.Lock()
        own.on_request = self.see

    def see(self, _request: Request) -> None:
        with self.lock:
            self.n += 1
            if self.n == self.after:
                os.kill(self.pid, self.signal_sent)


def run_child(arguments: list[str], told: Path, killer: Killer | None = None) -> int:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([killed_child.__name__])
    child = context.Process(target=killed_child.run, args=(arguments, str(told)))
    if killer is None:
        child.start()
    else:
        with killer.lock:  # the first request waits until it is known whom to kill
            child.start()
            killer.pid = child.pid or 0
    child.join(timeout=300)
    assert child.exitcode is not None
    return child.exitcode


def arguments_of(url: str, rollouts: Path, out: Path) -> list[str]:
    return [
        "judge", "engjudge", "free_fall", str(rollouts), "--endpoint", url, "--model", "m", "-o", str(out),
        "--at-once", "16", "--max-failures", "1000000",
    ]  # fmt: skip


def check_killed_run(folder: Path, *, n_calls: int, n_kills: int) -> None:
    rollouts = folder / "rollouts.jsonl"
    write_rollouts(rollouts, -(-n_calls // CALLS_A_SOLUTION))
    undisturbed, killed = folder / "undisturbed.jsonl", folder / "killed.jsonl"
    with imitating(behave) as own:
        assert run_child(arguments_of(own.url, rollouts, undisturbed), folder / "told") == 0
        assert (folder / "told").read_text().startswith("0\n"), (folder / "told").read_text()
        assert len(own.answered) >= n_calls
    kept_file = Path(f"{killed}.replies.jsonl")
    n_killed, n_twice = 0, 0
    with imitating(behave) as own:
        by_body: set[str] = set()
        for kill in range(n_kills):
            before = len(own.asked)
            killer = Killer(own, n_calls // (n_kills + 2) + kill % 3)
            code = run_child(arguments_of(own.url, rollouts, killed), folder / "told", killer)
            n_killed += code == -signal.SIGKILL
            n_twice += sum(sha256 in by_body for sha256 in own.asked[before:])
            by_body = bodies_kept(own, kept_file)
        own.on_request = lambda _request: None
        before = len(own.asked)
        assert run_child(arguments_of(own.url, rollouts, killed), folder / "told") == 0
        n_twice += sum(sha256 in by_body for sha256 in own.asked[before:])
        assert (folder / "told").read_text().startswith("0\n"), (folder / "told").read_text()
    assert n_killed == n_kills
    assert n_twice == 0
    assert killed.read_bytes() == undisturbed.read_bytes()
    failed = [line for line in killed.read_text("utf-8").splitlines() if '"failed"' in line]
    assert failed or n_calls < 1000, "some replies are past mending, and are told"


def bodies_kept(own: Imitation, path: Path) -> set[str]:
    """The requests whose replies are kept, as the endpoint names them."""
    from prism.judging.conversations import digest_of

    kept = ReplyFile(path).replies
    return {sha256 for sha256, body in list(own.bodies.items()) if digest_of(body, 1) in kept}


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    check_killed_run(tmp_path, n_calls=100, n_kills=2)


def test_a_run_that_is_stopped_by_a_person_says_what_is_kept(tmp_path: Path) -> None:
    rollouts, out, told = tmp_path / "rollouts.jsonl", tmp_path / "out.jsonl", tmp_path / "told"
    write_rollouts(rollouts, 10)
    with imitating() as own:
        run_child(arguments_of(own.url, rollouts, out), told, Killer(own, 40, signal.SIGINT))
        kept = Path(f"{out}.replies.jsonl").read_bytes().count(b"\n")
        code, _, said = told.read_text().partition("\n")
        assert code == "130"
        assert f"prism: stopped; {kept} replies are kept in {out}.replies.jsonl" in said
        assert not out.exists()
        assert run_child(arguments_of(own.url, rollouts, out), told) == 0
    assert told.read_text().startswith("0\n")
    assert 0 < kept < 110


@pytest.mark.slow
def test_two_thousand_calls_and_twenty_kills(tmp_path: Path) -> None:
    check_killed_run(tmp_path, n_calls=2000, n_kills=20)
