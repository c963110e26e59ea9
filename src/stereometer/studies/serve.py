"""A study on the web: the database, the application and the server, put together."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path

import uvicorn

from stereometer.errors import UsageError
from stereometer.studies.database import open_database
from stereometer.studies.pages.app import LOOPBACK, make_app
from stereometer.studies.pages.showing import render_everything
from stereometer.studies.participation import Participation
from stereometer.studies.secrets import new_admin_token, read_secrets
from stereometer.studies.study import open_study
from stereometer.studies.versions import open_answers


def participation_of(folder: Path, database: str | None = None) -> Participation:
    study = open_study(folder)
    return Participation(study, open_database(study.folder, database))


def serve_study(
    folder: Path,
    host: str,
    port: int,
    names: tuple[str, ...],
    database: str | None,
    https: bool,
    proxies: tuple[str, ...],
    say: Callable[[str], None],
) -> None:
    if not _is_loopback(host) and not names:
        raise UsageError(
            f"--host {host} lets other machines in. The study must know the name they use, so that "
            "nobody can pretend to be it. Add --name study.example.org."
        )
    study = open_study(folder)
    token = None if read_secrets(folder).admin_hash else new_admin_token(folder)
    render_everything(study)
    participation = Participation(study, open_answers(study, database))
    address = f"http{'s' if https else ''}://{names[0] if names else f'{host}:{port}'}"
    say(f"{participation.study.config.title}: {address}")
    say(f"Researcher's page: {address}/admin")
    if token:
        say(f"Its token, shown only now: {token}")
    app = make_app(participation, (*LOOPBACK, host, *names), https)
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
