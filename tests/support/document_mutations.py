"""Documents changed at random: pieces cut out, doubled, put in from others or from a list of what readers look for."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

from prism.latex.documents.kinds import FileKind, kind_of
from tests.support.document_forms import packed, read_forms, word_body, word_document

PIECES = (
    *map(
        str.encode,
        r"""
< > </ <!-- --> <![CDATA[ & &#0; &#x110000; " ' = /> <math> </math> $ $$ \ \( \] { } [ ] ( ) # #let #f( /* `
``` ```{math} ++++ stem:[ [stem] :math:` :: #+begin_src #+end_src :PROPERTIES: == {{ }} [[ [[File: <nowiki>
null {} [] 1e999 "parts": "messages": % && _ ^ / mat( cases( frac( sqrt " '' m:nary w:p <m:e/> <mfenced/>
<mtable><mtr/></mtable> <mmultiscripts><mprescripts/></mmultiscripts>
""".split(),
    ),
    b"<script type=math/tex>",
    b"<img alt='$'>",
    b"<ol start=99999999999>",
    b".. math::",
    b"\xff",
    b"\x00",
    b"\xe2\x80\xa8",
    b"\r",
    b"\n",
    b"\t",
    b"\xf0\x9d\x91\xa3",
    b"\xcc\x82",
    b"<annotation encoding='TeX'/>",
)


@cache
def seeds() -> tuple[tuple[FileKind, bytes], ...]:
    """Each form that is one file, with its type; of archives the XML parts, which are packed after a change."""
    found = []
    for files in read_forms().values():
        name, content = next(iter(files.items()))
        kind = kind_of(PurePath(name))
        if len(files) == 1 and kind is not None and kind.reader:
            found.append((kind, content.encode() if isinstance(content, str) else content))
    return tuple(found)


def mutated(number: int) -> tuple[FileKind, bytes]:
    """The document of a number, the same every time."""
    rng = random.Random(number)
    kind, raw = seeds()[number % len(seeds())]
    if kind.endings[0] == ".docx" and number % 3:
        body = _changed(word_body().encode(), rng)
        return kind, word_document(body.decode("utf-8", "replace"))
    return kind, _changed(raw, rng)


@cache
def front_ends() -> dict[str, tuple[tuple[str, bytes], ...]]:
    """By front end the names and contents of the files that are changed: of each reader, of LaTeX and of Markdown."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for files in read_forms().values():
        name, content = next(iter(files.items()))
        kind = kind_of(PurePath(name))
        reader = kind.reader.partition(":")[2] if kind is not None else ""
        front_end = reader or {".tex": "read_latex_project", ".md": "read_markdown"}.get(PurePath(name).suffix, "")
        if front_end:
            found.setdefault(front_end, []).append((name, content.encode() if isinstance(content, str) else content))
    return {name: tuple(own) for name, own in found.items()}


def mutated_file(front_end: str, number: int) -> tuple[str, bytes]:
    """Name and content of a changed file of a front end, the same every time; of archives mostly a part is changed."""
    rng = random.Random(f"{front_end} {number}")
    name, raw = rng.choice(front_ends()[front_end])
    if not raw.startswith(b"PK") or rng.random() < 0.1:
        return name, _changed_json(raw, rng) if raw[:1] in b"{[" and rng.random() < 0.8 else _changed(raw, rng)
    with ZipFile(BytesIO(raw)) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    part = rng.choice([each for each in parts if each.endswith(("document.xml", "content.xml"))])
    parts[part] = _changed_xml(parts[part], rng) if rng.random() < 0.8 else _changed(parts[part], rng)
    return name, packed(dict(parts))


def _changed_json(raw: bytes, rng: random.Random) -> bytes:
    """JSON with one to eight of its values taken away, doubled, nested or put in the place of others."""
    tree = [json.loads(raw)]
    for _ in range(rng.randint(1, 8)):
        values = list(_containers(tree))
        holder, other = rng.choice(values), rng.choice(values)
        if not holder:
            continue
        key = rng.randrange(len(holder)) if isinstance(holder, list) else rng.choice(sorted(holder))
        same = copy.deepcopy(other) if len(repr(other)) < 20_000 else 0
        new: Any = rng.choice((None, 7, "", [], {}, rng.choice(PIECES).decode("utf-8", "replace"), same))
        if isinstance(holder, dict) and rng.random() < 0.3:
            holder[rng.choice(("parts", "content", "text", "role", "cells", "mapping", "children"))] = new
        elif rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = new
    return json.dumps(tree[0] if tree else None).encode()


def _containers(value: object) -> Iterator[Any]:
    """All lists and tables in a value."""
    if isinstance(value, (list, dict)):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers(each)


def _changed_xml(raw: bytes, rng: random.Random) -> bytes:
    """XML with one to twenty of its elements taken away, doubled, named otherwise, or with other text."""
    tree = ET.fromstring(raw)
    for _ in range(rng.randint(1, 20)):
        elements = list(tree.iter())
        holder, other = rng.choice(elements), rng.choice(elements)
        change = rng.randrange(5)
        if change == 0 and len(holder):
            holder.remove(rng.choice(list(holder)))
        elif change == 1:
            few = other if sum(1 for _ in islice(other.iter(), 60)) < 60 else ET.Element(other.tag, other.attrib)
            holder.insert(rng.randint(0, len(holder)), copy.deepcopy(few))
        elif change == 2:
            holder.tag = other.tag
        elif change == 3:
            holder.text = rng.choice(PIECES).decode("utf-8", "ignore").replace("\0", "")
        elif other.attrib:
            holder.attrib.update(other.attrib)
    return ET.tostring(tree)


def _changed(raw: bytes, rng: random.Random) -> bytes:
    """Bytes with one to eight changes."""
    for _ in range(rng.randint(1, 8)):
        at, end = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
        end = min(end, at + rng.choice((1, 3, 30, 1000)))
        piece = rng.choice((b"", rng.choice(PIECES), rng.choice(PIECES) * rng.choice((2, 50)), raw[at:end] * 2))
        if rng.random() < 0.2:
            other = rng.choice(seeds())[1]
            start = rng.randrange(len(other) + 1)
            piece = other[start : start + 200]
        raw = raw[:at] + piece + raw[end:]
    return raw
