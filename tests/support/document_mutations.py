"""Documents changed at random: pieces cut out, doubled, put in from others or from a list of what readers look for."""

from __future__ import annotations

import random
from functools import cache
from pathlib import PurePath

from prism.latex.documents.kinds import FileKind, kind_of
from tests.support.document_forms import read_forms, word_body, word_document

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
