"""The author's page over HTTP: who is let in, what a form changes, two tabs, hostile names and texts, 300 nodes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from prism.desk import create_desk
from prism.desk.pages import LANGUAGES, POLICY, STATIC, static_text, words_of
from prism.errors import PrismError
from prism.resources import resource
from tests.desk.conftest import TOKEN

HTMX = "e209dda5c8235479f3166defc7750e1dbcd5a5c1808b7792fc2e6733768fb447"
"""sha256 of htmx 2.0.4, `dist/htmx.min.js` of its package on the registry of npm."""

SOLUTION = r"The speed is $$v = g t,$$ the way $$h = \frac{1}{2} g t^2,$$ so $$\boxed{v = \sqrt{2 g h}}.$$"
STATEMENT = "A stone falls from the height $h$; $g$ is the gravity, $t$ the time, $v$ the speed."
HOSTILE = '</script><img src=x onerror=alert(1)>" hx-get="/x" \u202e \x00'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("bucket", "free_fall"):
        shutil.copy(resource(f"dags/{name}.toml"), tmp_path)
    return tmp_path


def digest_of(client: TestClient, name: str) -> str:
    found = re.search(r'"digest": "(\w+)"', client.get(f"/author/{name}").text)
    assert found is not None
    return found[1]


def edit(client: TestClient, name: str, op: str, **values: Any) -> Any:
    body = {"digest": digest_of(client, name), **values, "op": op}
    return client.post(f"/author/{name}", json={key: str(value) for key, value in body.items()})


def test_nothing_is_shown_without_the_token(folder: Path) -> None:
    client = TestClient(create_desk(folder, token=TOKEN), base_url="http://127.0.0.1:8779", follow_redirects=False)
    for address in ("/", "/static/desk.js", "/author/bucket.toml", "/?token=wrong"):
        assert client.get(address).status_code == 401
    assert client.post("/new", json={}).status_code == 401
    opened = client.get(f"/author/bucket.toml?token={TOKEN}")
    assert (opened.status_code, opened.headers["location"]) == (303, "/author/bucket.toml")
    assert "httponly" in opened.headers["set-cookie"].lower()
    assert "samesite=strict" in opened.headers["set-cookie"].lower()
    assert client.get("/author/bucket.toml").status_code == 200


def test_a_page_of_another_site_can_send_no_form(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert client.post("/new", content=b'{"name": "x"}', headers={"content-type": kind}).status_code == 415


def test_every_answer_has_the_policy_and_no_inline_script_or_style(client: TestClient) -> None:
    for address in ("/", "/new", "/author/bucket.toml", "/static/htmx.min.js", "/author/absent.toml"):
        found = client.get(address)
        assert found.headers["content-security-policy"] == POLICY
        if address.startswith("/static"):
            continue
        assert not re.search(r"<script(?! src=\"/static/)|<style|\sstyle=|\son\w+=|https?://", found.text), address
    assert "unsafe" not in POLICY
    assert '"allowEval":false,"includeIndicatorStyles":false' in client.get("/").text


def test_htmx_is_the_version_that_was_looked_at() -> None:
    raw = (Path(str(create_desk.__globals__["__file__"])).parent / "static" / "htmx.min.js").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == HTMX
    assert 'version:"2.0.4"' in static_text("htmx.min.js")
    assert "swapOverride" in static_text("htmx.min.js")
    assert set(STATIC) == {"htmx.min.js", "desk.js", "desk.css"}


def keys_of(table: Any) -> Any:
    return {key: keys_of(value) for key, value in table.items() if key != "why"} if isinstance(table, dict) else None


def test_all_languages_have_the_same_words() -> None:
    first, *others = (keys_of(words_of(each)) for each in LANGUAGES)
    assert all(each == first for each in others)


def test_all_reasons_of_drafts_are_said_in_german() -> None:
    from prism.authoring.dependencies import ELIMINATED, QUESTIONS, RULES, SHARED
    from prism.authoring.drafting import NODE_REASONS
    from prism.desk import edits

    said = words_of("de")["why"]
    own = {edits.BY_HAND, edits.THROUGH, edits.FROM_SPLIT, ELIMINATED, SHARED}
    assert set(said) == {*RULES.values(), *QUESTIONS.values(), *NODE_REASONS, *own}


def test_the_language_is_that_of_the_browser_or_of_a_choice(client: TestClient) -> None:
    assert "Aufgaben" in client.get("/", headers={"accept-language": "de-AT,en;q=0.5"}).text
    client.get("/language/de?back=/new")
    assert "Musterlösung" in client.get("/new", headers={"accept-language": "en"}).text
    away = client.get("/language/en?back=//example.org", follow_redirects=False)
    assert away.headers["location"] == "/"


def test_from_a_solution_to_a_certified_file(client: TestClient, folder: Path) -> None:
    made = client.post("/new", json={"name": "fall", "statement": STATEMENT, "solution": SOLUTION})
    assert (made.status_code, made.headers["hx-redirect"]) == (204, "/author/fall.toml")
    page = client.get("/author/fall.toml").text
    assert page.count('<article id="n') == 3
    assert "it holds wherever they do" in page
    assert edit(client, "fall.toml", "certify", text="A").status_code == 422
    for node in (1, 2, 3):
        assert edit(client, "fall.toml", "accept_all", node=node).status_code == 200
    assert edit(client, "fall.toml", "cut", node=2, origin=1).status_code == 200
    assert edit(client, "fall.toml", "certify", text="A. Author").status_code == 200
    data = tomllib.loads((folder / "fall.toml").read_text(encoding="utf-8"))
    assert data["certified_by"] == "A. Author"
    assert data["students"][0]["solution"] == SOLUTION
    front = client.get("/").text
    assert "A. Author" in front


def test_a_certificate_ends_what_the_draft_said_of_itself(client: TestClient, folder: Path) -> None:
    client.post("/new", json={"name": "fall", "statement": STATEMENT, "solution": SOLUTION})
    assert "Nobody has checked it" in (folder / "fall.toml").read_text(encoding="utf-8")
    for node in (1, 2, 3):
        edit(client, "fall.toml", "accept_all", node=node)
    edit(client, "fall.toml", "cut", node=2, origin=1)
    page = edit(client, "fall.toml", "certify", text="A. Author").text
    assert page.count("Certified by A. Author") == 2
    assert 'value="A. Author"' in page
    text = (folder / "fall.toml").read_text(encoding="utf-8")
    assert "Nobody has checked" not in text
    assert "not checked" not in text


def test_what_has_faults_is_not_certified(client: TestClient, folder: Path) -> None:
    client.post("/new", json={"name": "fall", "statement": STATEMENT, "solution": SOLUTION})
    for node in (1, 2, 3):
        edit(client, "fall.toml", "accept_all", node=node)
    edit(client, "fall.toml", "add", node=3, formula="x = y")
    refused = edit(client, "fall.toml", "certify", text="A")
    assert (refused.status_code, "the check finds" in refused.text) == (422, True)
    assert "data-reload" not in refused.text
    assert "certified_by" not in (folder / "fall.toml").read_text(encoding="utf-8")


def test_samples_wait_for_a_file_that_loads(client: TestClient) -> None:
    assert words_of("en")["samples_wait"] not in client.get("/check/bucket.toml").text
    edit(client, "bucket.toml", "edit", node=1, formula="v = 1", part="z")
    assert words_of("en")["samples_wait"] in client.get("/check/bucket.toml").text


def test_beside_another_way_its_own_sample_stands_open_and_open_ways_are_linked(client: TestClient) -> None:
    other = r"$$u = \frac{v}{2},$$ $$h = u t,$$ $$t = \frac{v}{g},$$ so $$\boxed{v = \sqrt{2 g h}}.$$"
    client.post("/new", json={"name": "two", "statement": STATEMENT, "solution": f"{SOLUTION}\n-----\n{other}"})
    light = '<span class="light green" title="as it should be"></span>'
    opened = f'<details class="sample" open><summary>{light} worked solution'
    for way, name in (("", "1"), ("way 2", "2")):
        assert f"{opened} {name}" in client.get("/check/two.toml", params={"way": way}).text
    assert '· <a href="/author/two.toml?way=way%202">way 2</a>' in client.get("/author/two.toml").text


def test_a_finding_links_to_the_node_of_its_own_reference(client: TestClient) -> None:
    other = r"$$u = \frac{v}{2},$$ $$h = u t,$$ so $$\boxed{v = \sqrt{3 g h}}.$$"
    client.post("/new", json={"name": "two", "statement": STATEMENT, "solution": f"{SOLUTION}\n-----\n{other}"})
    assert '<a href="/author/two.toml?way=way%202#n3">' in client.get("/check/two.toml").text
    assert '<a href="#n3">alternative way 2, node 3' in client.get("/check/two.toml", params={"way": "way 2"}).text


def test_what_the_draft_left_out_and_why_a_formula_is_a_node_is_shown(client: TestClient) -> None:
    twice = r"$$v = g t$$ $$h = \frac{1}{2} g t^2$$ $$2 h = g t^2$$ $$v = \sqrt{2 g h}$$"
    client.post("/new", json={"name": "fall", "statement": STATEMENT, "solution": twice})
    page = client.get("/author/fall.toml", headers={"accept-language": "de"}).text
    assert "Vom Entwurf weggelassen (1)" in page
    assert "abgesetzte Formel; nichts steht in einem Kasten" in page


def test_a_statement_gives_parts_to_a_file_without(client: TestClient, folder: Path) -> None:
    client.post("/new", json={"name": "fall", "statement": STATEMENT, "solution": SOLUTION})
    text = f"{STATEMENT}\n\n(a) Find $t$.\n\n(b) Find $v$."
    assert edit(client, "fall.toml", "statement", text=text).status_code == 200
    data = tomllib.loads((folder / "fall.toml").read_text(encoding="utf-8"))
    assert data["context"] == STATEMENT
    assert [each["subproblem"] for each in data["subquestions"]] == ["Find $t$.", "Find $v$."]
    assert edit(client, "fall.toml", "edit", node=3, formula="v = 1", final="yes", part="b").status_code == 200
    assert "is unknown" not in client.get("/check/fall.toml").text


def test_an_edit_is_checked_and_grades_the_samples(client: TestClient) -> None:
    assert 'class="light green"' in client.get("/check/bucket.toml").text
    edit(client, "bucket.toml", "edit", node=2, formula=r"P - m g = 3 \frac{dv}{dt}")
    found = client.get("/check/bucket.toml").text
    assert "light red" in found
    assert "decided otherwise than the label: nodes 2" in found
    edit(client, "bucket.toml", "edit", node=2, formula=r"v = \frac{1")
    assert "fault" in client.get("/check/bucket.toml").text


def test_an_edit_can_be_taken_back(client: TestClient, folder: Path) -> None:
    before = (folder / "bucket.toml").read_bytes()
    edit(client, "bucket.toml", "drop", node=1)
    edit(client, "bucket.toml", "drop", node=1)
    assert edit(client, "bucket.toml", "undo").status_code == 200
    assert edit(client, "bucket.toml", "undo").status_code == 200
    assert (folder / "bucket.toml").read_bytes() == before
    assert edit(client, "bucket.toml", "undo").status_code == 422


def test_the_second_of_two_tabs_is_told(client: TestClient, folder: Path) -> None:
    digest = digest_of(client, "bucket.toml")
    assert edit(client, "bucket.toml", "drop", node=1).status_code == 200
    after = (folder / "bucket.toml").read_bytes()
    late = client.post("/author/bucket.toml", json={"op": "drop", "node": "1", "digest": digest})
    assert late.status_code == 409
    assert "changed elsewhere" in late.text
    assert (folder / "bucket.toml").read_bytes() == after


def test_an_edit_in_another_program_is_kept(client: TestClient, folder: Path) -> None:
    digest = digest_of(client, "bucket.toml")
    path = folder / "bucket.toml"
    path.write_text("# mine\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert client.post("/author/bucket.toml", json={"op": "drop", "node": 1, "digest": digest}).status_code == 409
    assert path.read_text(encoding="utf-8").startswith("# mine\n")


@pytest.mark.parametrize("name", ["../x.toml", "..%2fx.toml", "/etc/passwd", ".hidden.toml", "absent.toml"])
def test_no_name_leads_out_of_the_folder(client: TestClient, folder: Path, name: str) -> None:
    (folder.parent / "x.toml").write_text("id = 'x'\n", encoding="utf-8")
    assert client.get(f"/author/{name}").status_code in (404, 422)
    assert client.post("/new", json={"name": name.replace("absent", "a/b"), "solution": "$a = b$"}).status_code == 422
    assert sorted(path.name for path in folder.iterdir()) == ["bucket.toml", "free_fall.toml"]


def test_hostile_texts_and_names_are_text(client: TestClient, folder: Path) -> None:
    name = "a' \"<b> & #%.toml"
    text = (
        f"id = 'x'\ntitle = {HOSTILE.replace(chr(0), '')!r}\n"
        "context = '''<script>alert(1)</script> $</math><script>alert(2)</script>$'''\n"
        "[[grading_standard]]\nindex = 1\nformula = '''\\text{</math><img src=x onerror=alert(3)>}'''\n"
        "dependency = []\n"
        "edges = [{ from = 7, why = '\"><script>', reviewed = false }]\n"
        "[[students]]\nname = '<b>'\nsolution = '<img src=x onerror=alert(4)> $a<script>alert(5)</script>$'\n"
    )
    (folder / name).write_text(text.replace("\\u202e", "\u202e"), encoding="utf-8")
    for address in ("/", "/author/a' \"<b> & %23%25.toml", "/check/a' \"<b> & %23%25.toml"):
        found = client.get(address)
        assert found.status_code == 200, address
        assert "<img" not in found.text
        assert "<script>" not in found.text
        assert "\u202e" not in found.text
    links = re.findall(r'href="(/author/[^"]*)"', client.get("/").text)
    assert all(client.get(unescape(link)).status_code == 200 for link in links)


@pytest.mark.parametrize("body", [
    {}, {"op": "drop"}, {"op": "explode", "digest": "x"}, {"op": "drop", "digest": "x", "node": "two"},
    {"op": "edit", "digest": "x", "formula": "\ud800"}, {"op": "split", "digest": "x", "node": "99"}, ["list"],
])  # fmt: skip
def test_what_no_form_sends_changes_nothing(client: TestClient, folder: Path, body: Any) -> None:
    before = (folder / "bucket.toml").read_bytes()
    sent = client.post("/author/bucket.toml", content=json.dumps(body), headers={"content-type": "application/json"})
    assert sent.status_code in (409, 422)
    assert (folder / "bucket.toml").read_bytes() == before


def test_three_hundred_nodes(client: TestClient, folder: Path) -> None:
    nodes = "".join(
        f"[[grading_standard]]\nindex = {k}\nformula = 'x_{{{k}}} = {k} a + x_{{{k - 1}}}'\n"
        f"dependency = [{k - 1 if k > 1 else ''}]\nreviewed = false\n\n"
        for k in range(1, 301)
    )
    (folder / "many.toml").write_text(f"id = 'many'\ncontext = 'A length $a$.'\n\n{nodes}", encoding="utf-8")
    page = client.get("/author/many.toml").text
    assert page.count("<article id=") == 300
    assert edit(client, "many.toml", "drop", node=150).status_code == 200
    assert edit(client, "many.toml", "accept", node=299).status_code == 200
    data = tomllib.loads((folder / "many.toml").read_text(encoding="utf-8"))
    assert [node["dependency"] for node in data["grading_standard"]] == [[], *([k] for k in range(1, 299))]


def test_files_that_cannot_be_edited_are_told(client: TestClient, folder: Path) -> None:
    (folder / "torn.toml").write_text("id = 'x\n", encoding="utf-8")
    (folder / "inline.toml").write_text(
        "id = 'x'\ncontext = ''\ngrading_standard = [{index = 1, formula = 'a = b', dependency = []}]\n",
        encoding="utf-8",
    )
    (folder / "other.toml").write_text("a = 1\n", encoding="utf-8")
    front = client.get("/").text
    assert "torn.toml" in front
    assert "other.toml" not in front
    assert "tables [[grading_standard]] of their own" in client.get("/author/inline.toml").text
    assert client.get("/check/torn.toml").status_code == 200


def test_a_desk_needs_a_folder_and_a_token(tmp_path: Path) -> None:
    with pytest.raises(PrismError, match="is no folder"):
        create_desk(tmp_path / "absent", token=TOKEN)
    with pytest.raises(PrismError, match="at least 16"):
        create_desk(tmp_path, token="short")


def test_the_pictures_of_the_page_are_those_that_the_script_makes() -> None:
    from docs.generator.desk_pictures import FOLDER, PAGES

    page = (FOLDER.parent / "how-to" / "use_the_desk.md").read_text(encoding="utf-8")
    assert set(re.findall(r"assets/(desk_\w+)\.png", page)) == set(PAGES)
    assert {path.stem for path in FOLDER.glob("desk_*.png")} == set(PAGES)


def test_the_page_of_the_desk_lists_true_keys() -> None:
    keys = {key for pair in words_of("en")["author_keys"] for key in pair[0].split()}
    assert {"a", "y", "n", "e", "g", "s", "m", "i", "d", "u", "c"} <= keys
