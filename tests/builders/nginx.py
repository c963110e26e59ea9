"""Debian's nginx as a reverse proxy with HTTPS on loopback, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders.ports import free_port

CONFIGURATION = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream study {{ {servers} }}
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        client_max_body_size 64k;
        location / {{
            proxy_pass http://study;
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""


@contextmanager
def nginx(folder: Path, ports: list[int]) -> Iterator[str]:
    """The address of a proxy in front of servers on these ports."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("nginx is not installed: apt-get install nginx openssl")
    folder.mkdir()
    port = free_port()
    servers = " ".join(f"server 127.0.0.1:{number};" for number in ports)
    text = CONFIGURATION.format(folder=folder, port=port, servers=servers)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    _certify(folder)
    command = [program, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            yield f"https://127.0.0.1:{port}"
        finally:
            process.terminate()


def _certify(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"),
         "-subj", "/CN=study.example.org", "-addext",
         "subjectAltName=DNS:study.example.org,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
