"""`data pull` over the loopback: content is checked, whatever its layout; nothing half-fetched is
kept."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stereometer.core import catalog
from tests.builders.commands import Said, assert_refused, call, shell
from tests.builders.little import little_stereoset
from tests.builders.packs import pack_of
from tests.builders.ports import free_port
from tests.conftest import released
from tests.wings.data.test_data_add import everything

Pages = dict[str, bytes]


@pytest.fixture(scope="module")
def dev_set() -> Path:
    return released("stereoset/dev.json.gz")


@pytest.fixture(autouse=True)
def kept(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("STEREOMETER_DATA", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return own_home / "data" / "stereometer"


@pytest.fixture
def pages() -> Iterator[tuple[str, Pages]]:
    """A web server's address, and its pages to be filled in."""
    found: Pages = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = found.get(self.path)
            self.send_response(404 if content is None else 200)
            promised = len(content or b"") + (1000 if self.path.endswith("/cut") else 0)
            self.send_header("Content-Length", str(promised))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *parts: object) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", found
        server.shutdown()
        thread.join()


def pull(url: str) -> Said:
    return call("data", "pull", "stereoset", "--url", url)


@pytest.mark.long
@pytest.mark.parametrize("layout", ["as released", "another layout", "packed"])
def test_the_right_content_is_kept_whatever_its_layout(
    pages: tuple[str, Pages], dev_set: Path, kept: Path, layout: str
) -> None:
    packed = dev_set.read_bytes()
    plain = gzip.decompress(packed)
    address, found = pages
    found["/dev"] = {
        "as released": plain,
        "packed": packed,
        "another layout": json.dumps(json.loads(plain), indent=3, sort_keys=True).encode(),
    }[layout]
    said = pull(f"{address}/dev")
    assert said.code == 0, said.err
    assert everything(kept) == [
        "stereoset/dev.json.gz" if layout == "packed" else "stereoset/dev.json"
    ]
    assert "Cite: Nadeem" in said.err
    size = f"{len(found['/dev']) / 1e6:.2f} MB"
    before, fetching, *_ = said.err.splitlines()
    assert "licence CC BY-SA 4.0. Checked before it is kept: 4,229 items of shape cat" in before
    assert fetching == f"Fetching {address}/dev ({size})"


@pytest.mark.parametrize("first", [None, b"<html>Sign in</html>"], ids=["gone", "other"])
def test_the_second_place_is_tried_where_the_first_fails(
    pages: tuple[str, Pages],
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    first: bytes | None,
) -> None:
    address, found = pages
    found["/mirror"] = little_stereoset(tmp_path / "dev.json").read_bytes()
    found |= {} if first is None else {"/dev": first}
    source = catalog.find("benchmark", "stereoset")
    little = source.load([tmp_path / "dev.json"])
    places = {"urls": (f"{address}/dev",), "mirrors": (f"{address}/mirror",)}
    card = replace(source.card, digest=little.digest, **places)
    monkeypatch.setitem(vars(source), "card", card)
    said = call("data", "pull", "stereoset", "stereoset")
    assert said.code == 0, said.err
    assert "Trying the second place." in said.err
    assert everything(kept) == ["stereoset/dev.json"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<html>Sign in</html>", "not valid JSON"),
        (b"", "is empty"),
        (b"[]", "not a StereoSet file"),
    ],
)
def test_anything_else_is_refused(
    pages: tuple[str, Pages], kept: Path, content: bytes, says: str
) -> None:
    address, found = pages
    found["/dev"] = content
    assert_refused(pull(f"{address}/dev"), 4, says)
    assert everything(kept) == []


def test_a_page_that_is_not_there(pages: tuple[str, Pages], kept: Path) -> None:
    """In a process of its own, for the answer is never closed."""
    assert_refused(
        shell("data", "pull", "stereoset", "--url", f"{pages[0]}/dev"),
        4,
        "could not be fetched: Not Found",
    )
    assert everything(kept) == []


def test_other_items_are_refused_with_what_differs(
    pages: tuple[str, Pages], kept: Path, tmp_path: Path
) -> None:
    address, found = pages
    found["/dev"] = little_stereoset(tmp_path / "dev.json").read_bytes()
    assert_refused(pull(f"{address}/dev"), 4, "12 items of shape cat instead of 4229")
    assert everything(kept) == []


def test_a_transfer_that_is_cut_off_is_refused(
    pages: tuple[str, Pages], kept: Path, tmp_path: Path
) -> None:
    address, found = pages
    found["/cut"] = little_stereoset(tmp_path / "dev.json").read_bytes()[:500]
    assert_refused(pull(f"{address}/cut"), 4)
    assert everything(kept) == []


def test_a_place_where_nobody_listens(kept: Path) -> None:
    assert_refused(
        pull(f"http://127.0.0.1:{free_port()}/dev"),
        4,
        "could not be fetched",
        "Connection refused",
        "stereometer data add",
    )
    assert everything(kept) == []


def test_a_place_that_does_not_speak_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            there, _ = listener.accept()
            with there:
                there.recv(4096)
                there.sendall(b"SSH-2.0-OpenSSH\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            assert_refused(
                pull(f"http://127.0.0.1:{listener.getsockname()[1]}/dev"), 4, "could not be fetched"
            )
        finally:
            thread.join()


@pytest.mark.parametrize("url", ["http://[", "http://a b/", "http://127.0.0.1:port/"])
def test_an_address_that_is_none(url: str) -> None:
    said = pull(url)
    assert said.code in (2, 4)


def test_the_number_of_addresses_must_be_that_of_the_files() -> None:
    several = call("data", "pull", "stereoset", "crows-pairs", "--url", "http://127.0.0.1/a")
    assert_refused(several, 2, "--url goes with one benchmark")
    said = call("data", "pull", "winobias", "--url", "http://127.0.0.1/a")
    assert_refused(said, 2, "made of 4 file(s), 1 address(es) given")


def test_a_set_without_a_public_place_says_where_to_get_it() -> None:
    assert_refused(
        call("data", "pull", "crows-pairs-french"),
        2,
        "gitlab.inria.fr",
        "stereometer data add crows-pairs-french FILE",
    )


# ------------------------------------------------------------------------------------------- packs


def pinned_pack(folder: Path, url: str, content: bytes) -> Path:
    """A pack whose file lies on a web server."""
    digest = hashlib.sha256(content).hexdigest()
    file = f'[[files]]\nname = "pairs.csv"\nurl = "{url}"\nsha256 = "{digest}"'
    return pack_of(folder, 'shape = "pair"', file)


PAIRS = b"sent_more,sent_less,bias_type\nGardeners like tea.,Plumbers like tea.,x\n"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_a_pack_is_pulled_from_its_own_address_and_then_found(
    pages: tuple[str, Pages], kept: Path, tmp_path: Path, packed: bool
) -> None:
    address, found = pages
    found["/pairs.csv"] = gzip.compress(PAIRS) if packed else PAIRS
    folder = pinned_pack(tmp_path, f"{address}/pairs.csv", PAIRS)
    said = call("data", "pull", str(folder))
    assert said.code == 0, said.err
    assert f"Fetching {address}/pairs.csv (" in said.err
    assert everything(kept) == [f"packs/little/pairs.csv{'.gz' if packed else ''}"]
    assert call("show", str(folder)).code == 0


def test_what_has_another_sha256_than_the_pack_states_is_not_kept(
    pages: tuple[str, Pages], kept: Path, tmp_path: Path
) -> None:
    address, found = pages
    found["/pairs.csv"] = PAIRS.replace(b"tea", b"rum")
    folder = pinned_pack(tmp_path, f"{address}/pairs.csv", PAIRS)
    assert_refused(call("data", "pull", str(folder)), 4, "instead of", "was not kept")
    assert everything(kept) == []
