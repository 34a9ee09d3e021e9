"""The command `desk`: a local page to write and certify references, to mark and to compare."""

from __future__ import annotations

import secrets
import webbrowser
from pathlib import Path

import typer

from prism.cli import options as take
from prism.cli.application import HelpHeading, app


@app.command(rich_help_panel=HelpHeading.WRITE)
def desk(
    folder: Path = take.argument("Folder of problem files; solutions and runs in it are found."),
    port: int = take.option("Port of this machine; 0 takes a free one.", 8779, min=0, max=65535),
    token_file: Path | None = take.option("File with the token of the address. [default: a new one each time]"),
    token_env: take.TokenVariable = "",
    open_browser: bool = take.switch("Open the page in a browser.", "--open"),
) -> None:
    """Write, review and certify references, mark solutions and compare runs on a page of this machine."""
    from prism import desk as door

    tokens = take.read_tokens(token_file, token_env) or [secrets.token_urlsafe(24)]
    if len(tokens) > 1:
        raise typer.BadParameter("one token: a desk is opened by one address")
    made = door.create_desk(folder, token=tokens[0])
    listening = door.listen(port)
    address = door.address_of(listening, tokens[0])
    print(address, flush=True)
    if open_browser:
        webbrowser.open(address)
    door.run(made, listening)
