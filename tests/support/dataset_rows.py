"""Invented rows in the published shape of each data set: fields, types and layouts are theirs, the rest is ours."""

# ruff: noqa: E501

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")  # a GIF of one pixel
DATA_URL = f"data:image/gif;base64,{base64.b64encode(PIXEL).decode('ascii')}"

ENGTRACE: list[dict[str, Any]] = [
    {
        "seed": 11, "branch": "mechanical_engineering", "domain": "heat_transfer", "area": "walls",
        "id": "plane_wall", "level": "Easy",
        "question": "A wall of area 12.5 m^2 and thickness 0.25 m has a conductivity of 0.90 W/(m*K). Its faces are "
        "at 21.0 and 5.0 degC. Find the heat rate q.",
        "solution": "**Given:**\n- A = 12.5 m^2\n\n**Step 1:** The law of Fourier is q = k*A*dT/L\n\n"
        "**Step 2:** With the numbers q = 0.90*12.5*16.0/0.25 = 720 W\n\n**Answer:** 720 W",
    },
    {
        "seed": 12, "branch": "mechanical_engineering", "domain": "heat_transfer", "area": "walls",
        "id": "plane_wall", "level": "Easy",
        "question": "A wall of area 8.0 m^2 and thickness 0.20 m has a conductivity of 0.50 W/(m*K). Its faces are "
        "at 25.0 and 3.0 degC. Find the heat rate q.",
        "solution": "**Step 1:** The law of Fourier is q = k*A*dT/L\n\n"
        "**Step 2:** q = 0.50*8.0*22.0/0.20 = 440 W\n\n**Answer:** The rate is 440 W (1,500 Btu/hr)",
    },
    {
        "seed": 11, "branch": "civil_engineering", "domain": "statics", "area": "beams", "id": "midspan",
        "level": "Intermediate", "question": "A beam of span 6.0 m carries 4.0 kN/m. Find the moment.",
        "solution": "**Step 1:** M = w*L**2/8 = 4.0*36.0/8 = 18.0 kN*m",
    },
]  # fmt: skip

ENGIBENCH: list[dict[str, str]] = [
    {
        "problem": "A heater takes 3.0 A at 230 V. What power does it take, in W?", "answer": "690 W",
        "subfield": "Systems & Control", "category": "Electrical", "difficulty": "Level 1",
        "converted_problem": "Let p = 3.0 * 230. Compute p.", "converted_problem_llm_answer": "690",
        "knowledge_enhanced_problem": "Given: P = U I. A heater takes 3.0 A at 230 V. What power does it take, in W?",
        "rewritten_problem": "A heater takes 4.5 A at 115 V. What power does it take, in W?",
        "rewritten_answer": "517.5 W", "rewritten_converted_problem": "Let p = 3.0 * 230. Compute p.",
        "rewritten_converted_problem_llm_answer": "690",
        "rewritten_knowledge_enhanced_problem": "Given: P = U I. A heater takes 4.5 A at 115 V. Find its power in W.",
    },
    {
        "problem": "Is a shaft in torsion with 80 MPa below its limit of 95 MPa?", "answer": "yes",
        "subfield": "Physical & Structural", "category": "Mechanical", "difficulty": "Level 2",
        "converted_problem": "", "converted_problem_llm_answer": "", "knowledge_enhanced_problem": "",
        "rewritten_problem": "Say why the shaft holds.", "rewritten_answer": "the stress stays below the limit",
        "rewritten_converted_problem": "", "rewritten_converted_problem_llm_answer": "",
        "rewritten_knowledge_enhanced_problem": "",
    },
]  # fmt: skip

RUBRIC: list[dict[str, str]] = [
    {
        "question": "Design a cooling loop.", "question_modified": "Design a cooling loop for a hall.",
        "source_detail": "ours", "official_scoring_standard": "as below", "subfield": "Chemical & Biology",
        "category": "Chemical", "information_extraction_score": "(1) Loads (6 points)\n6 points: all\n(2) Rest (4 points)",
        "domain_specific_reasoning_score": "(1) Balance (5 points)\n(2) Pumps (4 points)",
        "multi_objective_decision_score": "", "uncertainty_handling_score": "(1) Margins (10 points)",
    },
]  # fmt: skip

PHYBENCH: list[dict[str, Any]] = [
    {
        "id": 9001, "tag": "MECHANICS",
        "content": "A bead slides without friction down a wire of height $h$ under the gravity $g$. "
        "Find its speed $v$ at the end.",
        "solution": "With the mass $m$, energy is kept:\n\\[\\frac{1}{2} m v^2 = m g h\\]\nso that\n\\[v = \\sqrt{2gh}\\]",
        "answer": "\\[v = \\sqrt{2gh}\\]",
    },
    {
        "id": 9002, "tag": "ELECTRICITY",
        "content": "A charge $q$ is at the distance $r$ of a charge $Q$. With the constant $k$, find the force.",
        "solution": "Coulomb's law is\n\\[F = \\frac{k q Q}{r^2}\\]", "answer": "$$\\frac{k q Q}{r^2}$$",
    },
    {
        "id": 9003, "tag": "OPTICS", "content": "A lens of focal length $f$ ... Find the image distance $b$.",
        "solution": "", "answer": "",
    },
    {
        "id": 9004, "tag": "MODERN", "content": "A photon of the frequency $f$ has an energy $E$. Find it; $h$ is given.",
        "solution": "By Planck\n\\[E = h f\\]", "answer": "$E = 2 h f$",
    },
]  # fmt: skip

UGPHYSICS: list[dict[str, Any]] = [
    {
        "index": 77, "domain": "Mechanics and Thermodynamics", "subject": "Thermodynamics", "topic": "Ideal gas",
        "problem": "An ideal gas of $n = 2.00$ mol is at $T = 300$ K in $V = 0.0500$ m$^3$. Find $p$ in kPa, and the "
        "number of atoms in units of $10^{24}$.",
        "solution": "$$p = \\frac{n R T}{V} = 99.8\\,\\mathrm{kPa}$$ and $$N = 1.20$$",
        "answers": "\\boxed{99.8, 1.20}", "answer_type": "NV, NV", "unit": "kPa, ", "is_multiple_answer": True,
        "language": "EN", "level": "Laws Application",
    },
    {
        "index": 78, "domain": "Electromagnetism", "subject": "Electrodynamics", "topic": "Field",
        "problem": "Is the field inside of a conductor in equilibrium zero?",
        "solution": "It is.", "answers": "\\boxed{True}", "answer_type": "TF", "unit": None,
        "is_multiple_answer": False, "language": "EN", "level": "Knowledge Recall",
    },
    {
        "index": 79, "domain": "Modern Physics", "subject": "Quantum Mechanics", "topic": "Spin",
        "problem": "自旋为 $s$ 的粒子有多少个自旋态？", "solution": "$$N = 2 s + 1$$", "answers": "\\boxed{2s+1}",
        "answer_type": "EX", "unit": None, "is_multiple_answer": False, "language": "EN", "level": "Knowledge Recall",
    },
    {
        "index": 80, "domain": "Modern Physics", "subject": "Atomic Physics", "topic": "Lines",
        "problem": "Which line is red?\nA. the first\nB. the second\nC. the third", "solution": "The first.",
        "answers": "\\boxed{A}", "answer_type": "MC", "unit": None, "is_multiple_answer": False, "language": "EN",
        "level": "Knowledge Recall",
    },
    {
        "index": 81, "domain": "Modern Physics", "subject": "Atomic Physics", "topic": "Lines",
        "problem": "Give two numbers.", "solution": "", "answers": "\\boxed{3}", "answer_type": "NV, NV", "unit": None,
        "is_multiple_answer": False, "language": "EN", "level": "Laws Application",
    },
]  # fmt: skip

SCIBENCH: list[dict[str, str]] = [
    {
        "problem_text": " Find the energy of a photon of wavelength $600 \\mathrm{~nm}$. ", "answer_latex": " 3.31 ",
        "answer_number": "3.31", "unit": "$10^{-19} \\mathrm{~J}$", "source": "fund", "problemid": " 3.4 ",
        "comment": " ",
        "solution": "The energy is\n$$E = \\frac{h c}{\\lambda} = 3.31 \\times 10^{-19} \\mathrm{~J}$$",
    },
    {
        "problem_text": "How many seats does the hall have?", "answer_latex": "240", "answer_number": "240",
        "unit": "seats", "source": "stat", "problemid": "1.1", "comment": " ",
    },
    {
        "problem_text": "A gas of $2.0 \\mathrm{~mol}$ at $350 \\mathrm{~K}$ expands. What is its energy?",
        "answer_latex": "8.9", "answer_number": "8.73", "unit": "$\\mathrm{kJ}$", "source": "thermo",
        "problemid": "2.2", "comment": " ",
    },
    {
        "problem_text": "What is the ratio of the two masses?", "answer_latex": "4.2", "answer_number": "2.1",
        "unit": " ", "source": "thermo", "problemid": "2.3", "comment": " ",
    },
]  # fmt: skip

TPBENCH: list[dict[str, str]] = [
    {
        "problem_id": "P9", "domain": "QM", "difficulty_level": "2",
        "problem": "A harmonic oscillator has the frequency $\\omega$. Find the gap $E$ between two levels.",
        "solution": "The levels are $$E_n = \\hbar \\omega (n + \\frac12)$$ so that $$E = \\hbar \\omega$$",
        "answer": "The gap is $$E = \\hbar\\omega$$", "code_answer_requirements": "def energy(omega: float) -> float: ...",
        "reference_implementation": "raise SystemExit('never run')",
    },
]  # fmt: skip

PHYSICS: list[dict[str, Any]] = [
    {
        "id": "optics/9-1",
        "questions": "﻿A film of index $n$ reflects light of wavelength $\\lambda$.\n(a) Find its least thickness $d$."
        "\n(b) What is seen?",
        "solutions": "(a) The two waves meet in step if $$d = \\frac{\\lambda}{2n}$$ (b) It is dark.",
        "final_answers": ["d = \\frac{\\lambda}{2n}", "\\text{the film stays dark}"],
        "graphs": [{"type": "image_url", "image_url": {"url": DATA_URL}}],
    },
    {
        "id": "mechanics/9-2", "questions": "A stone of mass $m$ has the speed $v$. Find its energy $E$ and momentum $p$.",
        "solutions": "$$p = m v$$ and $$E = \\frac{p^2}{2m}$$",
        "final_answers": ["E = \\frac{1}{2} m v^2", "p = m v"], "graphs": None,
    },
    {
        "id": "mechanics/9-3", "questions": "Describe the motion.", "solutions": "It swings.",
        "final_answers": ["\\text{it swings}"], "graphs": None,
    },
]  # fmt: skip

HIPHO: list[dict[str, Any]] = [
    {"information": "Use $g = 9.81$ m/s$^2$."},
    {
        "id": "XPhO_2025_1_A_1", "context": "[A falling stone] \n\nA stone of mass $m$ falls from the height $h$.",
        "question": "Find its speed $v$ with $g$.",
        "marking": [
            ["Award 0.3 pt if the answer states energy conservation $\\frac{1}{2} m v^2 = m g h$. Otherwise, award 0 pt.",
             "Award 0.2 pt if the answer gives $v = \\sqrt{2 g h}$. Otherwise, award 0 pt.",
             "Award 0.1 pt if the answer says that the air is left out. Otherwise, award 0 pt."],
            ["Award 0.6 pt if the answer integrates $v = g t$ and gives $v = \\sqrt{2 g h}$. Otherwise, award 0 pt."],
        ],
        "answer": ["\\boxed{$v = \\sqrt{2 g h}$}"], "answer_type": ["Expression"], "unit": [None], "points": [0.6],
        "modality": "text-only", "field": "Mechanics", "source": "XPhO_2025", "image_question": [],
    },
    {
        "id": "XPhO_2025_1_A_2", "context": "", "question": "How long does it fall from 20 m?",
        "marking": ["Award 0.5 pt if the answer gives $h = \\frac{1}{2} g t^2$.", "Award 0.1 pt for the right number."],
        "answer": ["\\boxed{2.02}"], "answer_type": ["Numerical Value"], "unit": ["s"], "points": [0.7],
        "modality": "text+data figure", "field": "Mechanics", "source": "XPhO_2025", "image_question": ["fig_1.gif"],
    },
    {
        "id": "XPhO_2025_1_A_3", "context": "", "question": "Within which bounds does the time lie?", "marking": [],
        "answer": ["\\boxed{[1.9, 2.1]}"], "answer_type": ["Numerical Value"], "unit": ["s"], "points": [0.3],
        "modality": "text-only", "field": "Mechanics", "source": "XPhO_2025", "image_question": [],
    },
    {
        "id": "XPhO_2025_1_A_4", "context": "", "question": "石头的质量为 $m$，求重力 $G$。",
        "marking": ["如果解答写出 $G = m g$，则得 1 分。否则得 0 分。"], "answer": ["$G = m g$"], "answer_type": ["Expression"],
        "unit": [None], "points": [1.0], "modality": "text-only", "field": "Mechanics", "source": "XPhO_2025",
        "image_question": [],
    },
]  # fmt: skip

OLYMPIADBENCH: list[dict[str, Any]] = [
    {
        "id": 9001, "subfield": "Mechanics", "context": None,
        "question": "A body falls for a time $t$ with the acceleration $g$. Find the distance.",
        "solution": ["With no speed at first, $$s = \\frac{1}{2} g t^{2}$$"],
        "final_answer": ["$\\frac{1}{2} g t^{2}$"], "is_multiple_answer": False, "unit": None,
        "answer_type": "Expression", "error": None,
    },
    {
        "id": 9002, "subfield": "Mechanics", "context": "A lift rises with 2.0 m/s$^2$. <img_1>",
        "question": "A man of 80 kg stands in it. What does the balance show, and what after it stops?",
        "solution": ["$$F = m (g + a) = 945\\,\\mathrm{N}$$ $$F_0 = m g = 785\\,\\mathrm{N}$$"],
        "final_answer": ["945,785"], "is_multiple_answer": True, "unit": "N", "answer_type": "Numerical", "error": "1e0",
    },
    {
        "id": 9003, "subfield": "Mechanics", "context": None, "question": "In which interval does $x$ lie?",
        "solution": ["..."], "final_answer": ["$(0, 2)$"], "is_multiple_answer": False, "unit": None,
        "answer_type": "Interval", "error": "about one",
    },
]  # fmt: skip

PRISM_PHYSICS: list[dict[str, Any]] = [
    {
        "id": 1, "context": "A body of mass $m$ has the speed $v$.", "source": "",
        "images": [{"caption": "the body", "location": "1.gif"}],
        "subquestions": [{"letter": "a", "subproblem": "Find its energy $E$.", "solution": "$$E = p^2/(2m)$$",
                          "final_answer_form": "algebraic", "final_answer_instructions": "in $m$ and $v$"}],
        "grading_standard": [
            {"index": 1, "formula": "$$p = m v$$", "dependency": []},
            {"index": 2, "formula": "$$E = \\frac{p^2}{2 m}$$", "dependency": [1], "is_final_answer": True},
        ],
    },
    {"id": 2, "context": "A body without nodes.", "source": "", "subquestions": []},
]  # fmt: skip

PHYSREASON: list[dict[str, Any]] = [
    {
        "id": "P-1", "difficulty": "medium",
        "question_structure": {
            "context": "A block of mass $m$ slides from the height $h$ down a smooth slope; then it stops over a length "
            "$l$ on rough ground. Gravity is $g$.",
            "sub_question_1": "Find its speed $v$ at the foot.",
            "sub_question_2": "Find the coefficient of friction $\\mu$.",
        },
        "answer": ["$v = \\sqrt{2 g h}$", "$\\mu = \\frac{h}{l}$"],
        "explanation_steps": {
            "sub_question_1": {"step_1": "Energy is kept.", "step_2": "Solve for the speed."},
            "sub_question_2": {"step_3": "Friction does work."},
        },
        "steps_analysis": {
            "step_1": {"result_quantity": [{"name": "energy", "value": "N/A", "equation": "$m g h = \\frac{1}{2} m v^2$"}]},
            "step_2": {"result_quantity": [{"name": "speed", "value": "N/A", "equation": "$v = \\sqrt{2 g h}$"}]},
            "step_3": {"result_quantity": [{"name": "coefficient", "value": "N/A", "equation": "$\\mu m g l = m g h$"},
                                           {"name": "coefficient", "value": "N/A", "equation": "$\\mu = \\frac{h}{l}$"}]},
        },
    },
    {"id": "P-2", "difficulty": "easy", "question_structure": "none", "answer": ["2"], "explanation_steps": {},
     "steps_analysis": {}},
]  # fmt: skip

PHOPILE: list[dict[str, Any]] = [
    {
        "index": 11, "question_number": 4, "sub_question_number": 1, "sub_sub_question_number": None, "source": "XPhO",
        "year": 2012, "imgQ": None, "imgA": None,
        "problem": "A ball of mass $m$ falls from the height $h$ under the gravity $g$. Find its speed $v$ at the end.",
        "solution": "The energy is kept, $ m g h=\\frac{1}{2} m v^{2} $, and so the speed is  $ v=\\sqrt{2 g h} $ .",
    },
    {
        "index": 12, "question_number": 4, "sub_question_number": 2, "sub_sub_question_number": 1, "source": "XPhO",
        "year": 2012, "imgQ": ["###Fig.2.png###"], "imgA": ["/pic/2012A/Fig.3.png"], "problem": "Sketch the orbit.",
        "solution": "The sketch is in the figure ###Fig.3###.",
    },
]  # fmt: skip

ABENCH: list[dict[str, Any]] = [
    {
        "mid": "65", "subid": "0", "standard_answer": "  1.4 \\times 10^{-2}",
        "standard_question": "一物体以 \\( v = 2.8\\,\\mathrm{m/s} \\) 运动 5 ms，求路程。 (结果使用科学计数法，以$ \\mathrm{\\;m}  $为单位，保留2位有效数字)",
    },
    {
        "mid": "66", "subid": "0", "standard_answer": "- 50",
        "standard_question": "A lens of focal length 100 mm ... Find the place of the pupil. (Results should be expressed with "
        "units of $ \\mathrm{\\;{mm}} $, and rounded to 2 significant figures)",
    },
    {
        "mid": "67", "subid": "1", "standard_answer": " 6",
        "standard_question": "求仰角。 (结果以$ { \\star $为单位，保留1位有效数字)",
    },
]  # fmt: skip

THEOREMQA: list[dict[str, Any]] = [
    {
        "Question": "A body moves at 2.0 m/s for 231 s. What is the distance in m?", "Answer": 462.0, "Answer_type": "float",
        "Picture": None, "source": "ours", "id": "ours/motion1.json", "theorem": "uniform motion",
        "subfield": "Kinetics", "field": "Physics",
    },
    {
        "Question": "Return the mean and the variance as a list.", "Answer": [1, 2], "Answer_type": "list of integer",
        "Picture": None, "source": "ours", "id": "ours/mean1.json", "theorem": "mean", "subfield": "Statistics",
        "field": "Math",
    },
    {
        "Question": "Is a circle convex?", "Answer": False, "Answer_type": "bool", "Picture": "images/circle.png",
        "source": "ours", "id": "ours/convex1.json", "theorem": "convexity", "subfield": "Geometry", "field": "Math",
    },
    {
        "Question": "Which law holds?\n(a) the first (b) the second (c) the third", "Answer": "(c)",
        "Answer_type": "option", "Picture": None, "source": "ours", "id": "ours/law1.json", "theorem": "law",
        "subfield": "Laws", "field": "Physics",
    },
]  # fmt: skip

ENGVQA: list[dict[str, Any]] = [
    {
        "id": "fm_1", "subject": "Fluid Mechanics", "topic": "Pipe flow", "question": "A pipe of area 0.50 m^2 carries the "
        "flow 1.5 m^3/s. Find the speed v.", "image": DATA_URL, "final_answer": "$3.0\\,\\mathrm{m/s}$",
        "solution": "By continuity $$v = \\frac{Q}{A}$$ so $$v = 3.0\\,\\mathrm{m/s}$$",
    },
    {
        "id": "fm_2", "subject": "Fluid Mechanics", "topic": "Pipe flow", "question": "What flows?", "image": "",
        "final_answer": "water flows through the pipe", "solution": "",
    },
]  # fmt: skip


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _listed(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


Writer = Callable[[Sequence[Mapping[str, Any]]], str]
LAYOUTS: dict[str, tuple[str, Writer, list[Any]]] = {
    "engtrace": ("testset/mechanical_engineering/heat_transfer/walls.jsonl", _lines, ENGTRACE),
    "engibench": ("Level1&2/level12_dataset.csv", _table, ENGIBENCH),
    "phybench": ("PHYBench-fullques_v1.json", _listed, PHYBENCH),
    "ugphysics": ("data/Thermodynamics/en.jsonl", _lines, UGPHYSICS),
    "scibench": ("dataset/original/fund.json", _listed, SCIBENCH),
    "tpbench": ("data/train.jsonl", _lines, TPBENCH),
    "physics": ("PHYSICS/optics_dataset.jsonl", _lines, PHYSICS),
    "hipho": ("data/XPhO_2025.json", _listed, HIPHO),
    "olympiadbench": ("data/OE_MM_physics_en_COMP.json", _listed, OLYMPIADBENCH),
    "prism-physics": ("problems.jsonl", _lines, PRISM_PHYSICS),
    "physreason": ("PhysReason.jsonl", _lines, PHYSREASON),
    "phopile": ("dataset/train/train.json", _listed, PHOPILE),
    "abench": ("Physics/data/Phy_B_dynamic_100.csv", _table, ABENCH),
    "theoremqa": ("theoremqa_test.json", _listed, THEOREMQA),
    "engvqa": ("engvqa.json", _listed, ENGVQA),
}


def write_dataset(folder: Path, name: str, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """Write the rows of a data set in its layout below a folder, by default those of this module; return the file."""
    place, writer, own = LAYOUTS[name]
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(writer(own if rows is None else rows), encoding="utf-8")
    return path
