"""Pictures of the desk for its page, made in a real browser from shipped problems: run by hand when the desk changes.

    python -m docs.generator.desk_pictures

It needs the extras `desk` and `browser`, and Debian's package chromium. The pictures are files, for no page that is
built without a browser could show the desk; a test holds their names to those that the page shows.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from prism.desk import address_of, create_desk, listen, run
from prism.resources import resource

FOLDER = Path(__file__).parents[1] / "assets"
PAGES = {
    "desk_author": ("/author/drafted.toml", 1000),
    "desk_mark": ("/mark/one?problem=free_fall&student=anna", 780),
}
"""Of each picture the address on the desk, and its height [px]."""

TOKEN = "a-token-for-pictures"  # noqa: S105 - of a desk that lives as long as the pictures take
STATEMENT = (
    "A stone falls from the height $h$; $g$ is the gravity, $t$ the time and $v$ its speed. Find $v$ at the ground."
)
SOLUTION = (
    r"The speed is $$v = g t,$$ the way $$h = \frac{1}{2} g t^2,$$ so at the ground $$\boxed{v = \sqrt{2 g h}}.$$"
)
ANNA = r"The time is $t_f = \sqrt{2h/g}$, and the speed $v_f = \sqrt{g h}$."


def prepare(folder: Path) -> None:
    """Put into a folder what the pictures show: a draft, a shipped problem, the solution of a student."""
    from prism.desk.author import NewProblem, write_draft

    write_draft(folder, NewProblem(name="drafted", statement=STATEMENT, solution=SOLUTION))
    shutil.copy(resource("dags/free_fall.toml"), folder)
    solutions = folder / "solutions" / "free_fall"
    solutions.mkdir(parents=True)
    (solutions / "anna.md").write_text(ANNA, encoding="utf-8")


def main() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        listening = listen(0)
        threading.Thread(target=run, args=(create_desk(Path(name), token=TOKEN), listening), daemon=True).start()
        start = address_of(listening, TOKEN)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1120, "height": 700})
            page.goto(start)
            for picture, (address, height) in PAGES.items():
                page.set_viewport_size({"width": 1120, "height": height})
                page.goto(start.partition("/?")[0] + address)
                page.wait_for_selector(".solution")
                page.screenshot(path=FOLDER / f"{picture}.png")
            browser.close()


if __name__ == "__main__":
    main()
