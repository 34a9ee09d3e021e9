"""Domains and subtopics: the shipped vocabulary, what lint says of other names, and vocabularies of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.authoring.lint_entries import check_vocabulary
from prism.authoring.lint_findings import LintFinding
from prism.cli import app
from prism.errors import DataFileError
from prism.grading.row import fingerprint
from prism.problem.vocabulary import read_vocabulary, shipped_vocabulary
from tests.problem.test_set_counts import problem

ROOT = Path(__file__).resolve().parents[2]
run = CliRunner()
OWN = """
unknown = "fault"
[[domain]]
name = "Acoustics"
subtopics = ["Rooms", "Strings"]
"""


def said(vocabulary: Any = None, **named: str) -> list[LintFinding]:
    loaded = prism.load_problem(problem("p", [[], [1]], **named))
    return list(check_vocabulary(loaded, vocabulary or shipped_vocabulary()))


def test_seven_domains_of_physics_have_the_subtopics_of_the_paper_and_our_own() -> None:
    schemes = [named for named in shipped_vocabulary().schemes.values() if named is not None]
    assert [list(named) for named in schemes] == [["PRISM-Physics", "PRISM"]] * 7
    assert {name: sum(len(named[name]) for named in schemes) for name in schemes[0]} == {
        "PRISM-Physics": 26,
        "PRISM": 28,
    }
    first = shipped_vocabulary().subtopics["Electromagnetism"]
    assert first is not None
    assert first[:2] == ("Electrostatics", "Magnetostatics and Quasi-Stationary Fields")
    assert len(first) == 7  # Electrostatics is a name of both


def test_the_schema_of_problem_files_names_the_domains_of_physics() -> None:
    schema = json.loads((ROOT / "dags" / "problem.schema.json").read_text("utf-8"))
    physics = [name for name, listed in shipped_vocabulary().subtopics.items() if listed is not None]
    assert schema["properties"]["domain"]["examples"] == physics


@pytest.mark.slow
def test_every_shipped_problem_is_of_a_listed_domain() -> None:
    known = shipped_vocabulary().subtopics
    assert all(prism.load_problem(path).domain in known for path in (ROOT / "dags").glob("*.toml"))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({}, None),
        ({"domain": "Mechanics"}, None),
        ({"domain": "Mechanics", "subtopic": "Rigid Bodies"}, None),
        ({"domain": "Quantum Mechanics", "subtopic": "Other"}, None),
        ({"domain": "Optics", "subtopic": "Quantum Optics"}, None),
        ({"domain": "Solid State Physics and Miscellaneous"}, '"Solid State Physics and Miscellaneous Topics"?'),
        ({"domain": "Civil Engineering", "subtopic": "Bridges"}, None),
        ({"domain": "mechanics"}, 'no domain "mechanics"; did you mean "Mechanics"?'),
        ({"domain": "Quantum Mechnics"}, 'did you mean "Quantum Mechanics" or'),
        ({"domain": "thermal physics"}, 'did you mean "Thermodynamics and Statistical Physics"?'),
        ({"domain": "zzz"}, "domains are Mechanics, Electromagnetism,"),
        ({"domain": "Mechanics", "subtopic": "rigid body"}, '"rigid body" of Mechanics; did you mean "Rigid Bodies"?'),
        ({"domain": "Mechanics", "subtopic": "Electrostatics"}, "it is one of Electromagnetism"),
        ({"domain": "Optics", "subtopic": "zzz"}, "Wave Optics, Quantum Optics (PRISM-Physics); Rays"),
        ({"subtopic": "Electrostatics"}, 'without a domain; "Electrostatics" is one of Electromagnetism'),
    ],
)  # fmt: skip
def test_another_name_is_a_warning_that_names_the_nearest(named: dict[str, str], told: str | None) -> None:
    found = said(**named)
    assert [(one.kind, one.code) for one in found] == [("warning", "vocabulary")] * (told is not None)
    assert told is None or told in str(found[0])


def test_several_near_names_are_told() -> None:
    text = str(said(domain="Nuclear Particle Physics")[0])
    assert text.count('"') >= 4
    assert '"Atomic, Nuclear, and Particle Physics"' in text


def test_an_unknown_domain_and_its_subtopic_are_one_finding() -> None:
    assert [one.field for one in said(domain="mechanics", subtopic="Rigid Bodies")] == ["domain"]


def test_the_vocabulary_says_how_grave_another_name_is(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    assert [one.kind for one in said(read_vocabulary(path), domain="Mechanics")] == ["fault"]
    assert not said(read_vocabulary(path), domain="Acoustics", subtopic="Rooms")
    source = tmp_path / "p.json"
    source.write_text(json.dumps(problem("p", [[], [1]], domain="Mechanics")), encoding="utf-8")
    shipped, own = (run.invoke(app, ["lint", str(source), *more]) for more in ([], ["--vocabulary", str(path)]))
    assert (shipped.exit_code, own.exit_code) == (0, 3)
    assert 'fault: domain: the vocabulary has no domain "Mechanics"' in own.stdout
    assert "vocabulary" not in shipped.stdout


def test_lint_finds_the_line(tmp_path: Path) -> None:
    text = (ROOT / "dags" / "free_fall.toml").read_text("utf-8").replace('"Mechanics"', '"Mechanic"')
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    found = [one for one in prism.lint(tmp_path / "p.toml") if one.code == "vocabulary"]
    assert [one.line for one in found] == [text[: text.index("domain =")].count("\n") + 1]


def test_all_faults_of_a_vocabulary_are_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        'unknown = "error"\nkind = 1\n'
        '[[domain]]\nname = "A"\nsubtopics = ["x", "X"]\nother_names = ["b"]\n'
        '[[domain]]\nname = "a"\ntopics = []\n[[domain]]\nname = "B"\nother_names = ["c"]\n'
        '[[domain]]\nsubtopics = "x"\nother_names = ["C"]\n'
        '[[domain]]\nname = "D"\n[domain.subtopics]\nfirst = ["y", "Y"]\nsecond = 1\n',
        encoding="utf-8",
    )
    with pytest.raises(DataFileError) as caught:
        read_vocabulary(path)
    told = "\n".join(caught.value.faults)
    for words in ("unknown key kind", "'error' is none of", "subtopics: 'X' stands twice", "domain 2 (a), name: stands",
                  "domain 2 (a): unknown key topics", "domain 4 (without name), name: is missing", "domain 4",
                  "'C' is one of B too", "subtopics.first: 'Y' stands twice",
                  "domain 5 (D), subtopics.second: 1 is no list of texts",
                  "'b' of A is the name of a domain itself"):  # fmt: skip
        assert words in told
    (tmp_path / "p.json").write_text(json.dumps(problem("p", [[]])), encoding="utf-8")
    for name in ("bad.toml", "none.toml"):
        command = ["lint", str(tmp_path / "p.json"), "--vocabulary", str(tmp_path / name)]
        assert run.invoke(app, command).exit_code == 3


def test_no_grade_depends_on_the_vocabulary() -> None:
    """The fingerprint is over the tables that decide grades; names of domains are no part of it."""
    folders = {path.parent.name for path in (ROOT / "vocabulary").glob("*.toml")}
    assert folders == {"vocabulary"}
    assert fingerprint() == fingerprint("closure")
    assert '"vocabulary"' not in (ROOT / "prism" / "grading" / "row.py").read_text("utf-8")
