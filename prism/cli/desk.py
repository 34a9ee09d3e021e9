"""The command `desk`: a local page to write and certify references, to mark and to compare."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

import prism
from prism.cli.application import app
from prism.cli.helptext import Door
from prism.cli.options import fail, read_token


@app.command(rich_help_panel=Door.WRITE)
def desk(
    folder: Annotated[Path, typer.Argument(help="Folder of problem files; solutions and runs in it are found.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of this machine; 0 takes a free one.")] = 8779,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token of the address. [default: a new one each time]")
    ] = None,
    token_env: Annotated[str, typer.Option(help="Or the environment variable that holds it.")] = "",
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write, review and certify references, mark solutions and compare runs on a page of this machine."""
    try:
        from prism import desk as door
        from prism.desk.running import free_port
    except ImportError as error:
        fail(str(error))
    token = read_token(token_file, token_env) or secrets.token_urlsafe(24)
    try:
        made = door.create_desk(folder, token=token)
        at = free_port(port)
        print(f"http://{door.HOST}:{at}/?token={token}", flush=True)
        door.run(made, port=at, token=token, opens_browser=open_browser)
    except prism.PrismError as error:
        fail(str(error))
