"""Files that are made to harm: archives that unpack to gigabytes, ways out of a folder, entities, nesting, sizes."""

from __future__ import annotations

import json
import time
from pathlib import Path, PurePath
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import prism
from benchmarks.robustness.documents import fuzz
from prism.latex import extract
from prism.latex.documents.kinds import kind_of
from prism.latex.documents.latex_projects import MAX_FILES
from prism.latex.documents.markup import MAX_DEPTH
from prism.latex.documents.office_documents import MAX_PART, MAX_PARTS
from prism.latex.documents.reading import MAX_DOCUMENT, read_document, read_raw
from tests.support.document_forms import WORD, packed, word_document
from tests.support.document_mutations import front_ends, mutated

DOCTYPE = '<!DOCTYPE a [<!ENTITY x "v = 2 g t"><!ENTITY y SYSTEM "file:///etc/passwd">]>'


def read(name: str, raw: bytes) -> str:
    """The text of a file of this name and content."""
    kind = kind_of(PurePath(name))
    assert kind is not None
    return str(read_raw(raw, kind).solution)


def why_refused(name: str, raw: bytes) -> str:
    """What is said of a file that is refused."""
    with pytest.raises(prism.PrismError) as error:
        read(name, raw)
    return str(error.value)


# Archives. ------------------------------------------------------------------------------------------------------


def test_an_archive_unpacks_to_no_more_than_is_read() -> None:
    blanks = " " * (MAX_PART + 1)
    assert "unpacks to more than" in why_refused("a.docx", word_document(blanks))
    assert "has more than" in why_refused("a.odt", packed({str(n): "" for n in range(MAX_PARTS + 1)}))
    assert "has no part word/document.xml" in why_refused("a.docx", packed({"../../word/document.xml": WORD}))
    assert "has no part content.xml" in why_refused("a.odt", packed({"word/document.xml": WORD}))


def test_many_parts_together_unpack_to_no_more_either() -> None:
    names = {"text": "text", "draw": "drawing", "office": "office"}
    base = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{short}="{base}:{name}:1.0"' for short, name in names.items())
    objects = "".join(f'<draw:object xlink:href="O{n}"/>' for n in range(40))
    content = f'<office:body {spaces} xmlns:xlink="http://www.w3.org/1999/xlink">{objects}</office:body>'
    padding = "<math><mi>v</mi></math>" + " " * 900_000
    raw = packed({"content.xml": content, **{f"O{n}/content.xml": padding for n in range(40)}})
    assert "unpacks to more than" in why_refused("a.odt", raw)


def test_a_size_that_an_archive_lies_about_is_not_believed(tmp_path: Path) -> None:
    raw = bytearray(word_document(" " * 3_000_000))
    size = (3_000_000 + len(WORD) - 2).to_bytes(4, "little")
    assert size in raw
    said = why_refused("a.docx", bytes(raw.replace(size, (10).to_bytes(4, "little"))))
    assert "is damaged" in said or "is no XML" in said


def test_an_archive_with_a_password_is_told(tmp_path: Path) -> None:
    raw = bytearray(word_document(""))
    for sign in (b"PK\x03\x04", b"PK\x01\x02"):
        at = raw.rindex(sign) if sign == b"PK\x01\x02" else raw.rindex(b"PK\x03\x04")
        raw[at + (6 if sign == b"PK\x03\x04" else 8)] |= 1
    assert "password" in why_refused("a.docx", bytes(raw))


# XML. -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", ["&x;", "&y;", ""])
def test_a_document_type_is_refused(body: str) -> None:
    raw = packed({"word/document.xml": DOCTYPE + WORD.partition("?>")[2].replace("{}", body)})
    assert "declares a document type" in why_refused("a.docx", raw)


def test_a_document_type_without_declarations_is_passed_over() -> None:
    body = WORD.partition("?>")[2].replace("{}", "<w:p><w:r><w:t>so</w:t></w:r></w:p>")
    raw = packed({"word/document.xml": f'<!DOCTYPE a PUBLIC "-//B//C//EN" "file:///etc/passwd">{body}'})
    assert read("a.docx", raw).strip() == "so"


def test_entities_of_a_page_are_not_put_in() -> None:
    assert "2 g t" not in read("a.html", f"{DOCTYPE}<p>&x; &y;</p>".encode())


@pytest.mark.parametrize("name", ["m:rad><m:e", "w:p", "m:d><m:e"])
def test_deep_nesting_is_refused(name: str) -> None:
    n = 2_000
    ends = "".join(f"</{each}>" for each in reversed(name.split("><")))
    said = why_refused("a.docx", word_document(f"<{name}>" * n + ends * n))
    assert f"{MAX_DEPTH} in each other" in said


@pytest.mark.parametrize("begin", ["<div>", "<b>", "<math><msup>", "<msqrt>", "<table><tr><td>", "<ol><li>", "<p>"])
def test_a_deep_page_is_read_as_far_as_it_goes(begin: str) -> None:
    text = read("a.html", (begin * 3_000 + "$v = g t$").encode())
    assert "math" in begin or "msqrt" in begin or [item.latex for item in extract(text)] == ["v = g t"]


@pytest.mark.parametrize(
    ("name", "begin"), [("a.typ", "$frac("), ("a.typ", "$(("), ("a.adoc", "stem:[(("), ("a.json", "[")]
)
def test_other_deep_nesting_ends(name: str, begin: str) -> None:
    raw = (begin + begin[-1] * 50_000).encode()
    assert "nested too deeply" in why_refused(name, raw) if name == "a.json" else read(name, raw)


# Encodings and sizes. -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a.html", "a.ipynb", "a.wiki", "a.org", "a.rst", "a.adoc", "a.typ", "a.json", "a.mml"]
)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1", "cp500"])
def test_wrong_encodings_are_told(name: str, encoding: str) -> None:
    said = why_refused(name, "Höhe $v = g t$ und größer".encode(encoding))
    assert "UTF-8" in said or "binary" in said or "holds no JSON" in said


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("a.html", "<p>a <b>b</b> &amp; "), ("a.html", "<"), ("a.html", " "), ("a.html", "<a b='"),
        ("a.html", "<msup>"), ("a.html", "<ref>"), ("a.html", "<!--"), ("a.wiki", "<math>"), ("a.wiki", "[[a"),
        ("a.wiki", " "),
        ("a.wiki", "<math>a</math>"), ("a.org", "+a "), ("a.rst", "a\n=\n"), ("a.rst", ".. a::\n   :b: c\n"),
        ("a.adoc", "stem:["), ("a.typ", "$a $"), ("a.typ", "#f("), ("a.typ", "$#f("), ("a.ipynb", "["),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [100_000, pytest.param(5_000_000, marks=pytest.mark.slow)])
def test_a_text_that_repeats_itself_takes_a_time_that_grows_as_its_length(name: str, piece: str, size: int) -> None:
    raw = (piece * (size // len(piece)) + "</math>").encode()
    began = time.process_time()
    try:
        read(name, raw)
    except prism.PrismError as error:
        assert "elements" in str(error) or "nested" in str(error) or "JSON" in str(error)
    assert time.process_time() - began < 2 + size / 100_000


def test_more_than_a_document_may_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b" " * (MAX_DOCUMENT + 1))
    with pytest.raises(prism.PrismError, match="is longer than"):
        read_document(tmp_path / "a.html")


@pytest.mark.parametrize("name", ["a.html", "a.docx", "a.ipynb", "a.json", "a.org", "a.typ", "a.odt"])
def test_an_empty_file_is_an_empty_text(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b" \n")
    assert read_document(tmp_path / name).solution == ""


# What LaTeX puts in. --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "../a/../secret", "link", "linked/secret", "..\\secret", "a/../../secret", "~/x", "",
     "x" * 300, "sub/../../secret", "|cat secret"],
)  # fmt: skip
def test_no_file_outside_the_folder_is_put_in(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.tex").write_text("$v = g t$")
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    (folder / "linked").symlink_to(tmp_path)
    text = f"\\input{{{name}}} and \\input {name} and \\import{{..}}{{secret}} and \\include{{{name}.tex}}"
    (folder / "main.tex").write_text(text)
    document = read_document(folder / "main.tex")
    assert document.solution == text
    assert "file that it puts in" in " ".join(document.not_read) or "files that it puts in" in " ".join(
        document.not_read
    )


def test_files_that_put_in_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(r"$a = 1$ \input{b} \input{a}")
    (tmp_path / "b.tex").write_text(r"$b = 1$ \input{a} \input{b}")
    document = read_document(tmp_path / "a.tex")
    assert str(document.solution).count("$b = 1$") == 1
    assert any('"b" holds itself' in told for told in document.not_read)


def test_no_more_files_are_put_in_than_may_be(tmp_path: Path) -> None:
    for n in range(12):
        (tmp_path / f"x{n}.tex").write_text(rf"\input{{x{n + 1}}}" * 10 + "v")
    document = read_document(tmp_path / "x0.tex")
    assert len(document.parts) == MAX_FILES
    assert len(str(document.solution)) < 20_000


# Chats. ---------------------------------------------------------------------------------------------------------


def test_a_branch_that_leads_into_itself_ends() -> None:
    node = {"message": None, "parent": "1"}
    assert read("a.json", json.dumps({"mapping": {"1": node}, "current_node": "1"}).encode()) == "[]"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"mapping": {}}, {"mapping": {}}], "holds 2 conversations; a solution is one"),
        ({"choices": [{}, {}]}, "holds 2 choices"), ({"candidates": []}, "holds 0 candidates"),
        ({"response": "$v = g t$"}, "holds an object with the keys response"),
        ({"messages": ["a"]}, "holds a value of type str"), ({"messages": [{"content": "a"}]}, 'has no "role"'),
        (3, "found a value of type int"), ({}, "(none)"),
    ],
)  # fmt: skip
def test_a_json_file_that_holds_no_one_chat_is_told(value: object, said: str) -> None:
    assert said in why_refused("a.json", json.dumps(value).encode())


# Changed at random. ---------------------------------------------------------------------------------------------


def read_all(numbers: range) -> int:
    """How many of the changed documents are read; the others are refused in words, and none raises anything else."""
    n_read = 0
    for number in numbers:
        kind, raw = mutated(number)
        try:
            read_raw(raw, kind)
            n_read += 1
        except prism.PrismError as error:
            assert str(error).startswith("is ")
    return n_read


def test_documents_changed_at_random_are_read_or_refused() -> None:
    assert read_all(range(600)) > 200


@pytest.mark.parametrize("front_end", sorted(front_ends()))
def test_no_front_end_raises_anything_else(front_end: str, tmp_path: Path) -> None:
    found = fuzz(front_end, 60, tmp_path)
    assert found["first_raised"] == ""
    assert found["read"] > 15


@pytest.mark.parametrize("wrong", ["null", '""', "[]", "0", "false"])
@pytest.mark.parametrize("key", ["messages", "chat_messages", "choices", "candidates", "contents", "output"])
def test_a_chat_that_holds_no_messages_is_refused(key: str, wrong: str) -> None:
    assert "its list of messages holds" in why_refused("a.json", f'{{"{key}": [{wrong}]}}'.encode())


@pytest.mark.slow
def test_twenty_thousand_documents_changed_at_random_are_read_or_refused() -> None:
    assert read_all(range(600, 20_600)) > 5_000


def test_what_is_read_of_a_changed_document_can_be_graded() -> None:
    problem = prism.prepare(prism.load_problem("free_fall"))
    for number in range(0, 600, 20):
        kind, raw = mutated(number)
        try:
            solution = read_raw(raw, kind).solution
        except prism.PrismError:
            continue
        assert not prism.grade(problem, solution).incidents


def test_an_archive_is_never_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ZipFile(tmp_path / "a.docx", "w", ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", WORD.replace("{}", "<w:p><w:r><w:t>$v = g t$</w:t></w:r></w:p>"))
        file.writestr("../evil.txt", "x")
    assert read_document(tmp_path / "a.docx").solution == "$v = g t$\n\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.docx"]
