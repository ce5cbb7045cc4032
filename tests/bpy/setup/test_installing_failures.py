# SPDX-License-Identifier: GPL-3.0-or-later
"""What was in the way of an installation is said as what it is, with the fix.

``pip_logs`` holds what pip 23.2.1 and 26.3 wrote when it happened to them. ``self_signed.pem`` is a certificate that
nobody trusts, with its key, for a server that these tests start.
"""

import http.server
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from sinew.bridge.setup import installing, packages, readiness
from sinew.bridge.setup.installing import InstallationView, parse_log
from sinew.bridge.setup.installing.failures import explain_failure
from sinew.panels.ready import SINEW_PT_ready

from ..helpers.panel_drawing import Page

HERE = Path(__file__).parent

SAID = {
    "cert": ("could not be trusted: self-signed certificate", "PIP_CERT"),
    "closed": ("The package index does not answer", "firewall"),
    "proxy": ("proxy asks for a name and a password", "HTTPS_PROXY"),
    "dns": ("There is no network", "Connect this computer"),
    "full": ("The disk is full", "Make room"),
    "ro": ("Nothing may be written to '/opt/sinew/packages'", "user data folder"),
    "wrongpython": ("no scipy==1.17.1 for Python 3.12 on linux-x86_64", "Choose another Python"),
}


@pytest.mark.parametrize("path", sorted((HERE / "pip_logs").glob("*.txt")), ids=lambda path: path.stem)
def test_what_pip_wrote_is_put_into_words(path):
    what, fix = SAID[path.stem.removesuffix("26")]
    view = parse_log(path.read_text("utf-8") + "Sinew: failed with exit code 1\n", alive=False)
    assert view.state == "failed" and what in view.doing and fix in view.fix
    assert "No matching distribution" not in view.doing


def test_an_expired_certificate_is_a_matter_of_the_date():
    line = "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
    found = explain_failure(line + "certificate has expired (_ssl.c:1006)'))\nERROR: No matching distribution found")
    assert found.what == "The certificate of the package index is expired" and "date" in found.fix


def test_what_went_well_in_the_end_is_not_what_failed():
    log = (HERE / "pip_logs" / "closed26.txt").read_text().splitlines()[1]  # it was tried again
    log += (
        "\nSuccessfully installed cma-4.5.0\nTrying out cma\nImportError: libGL.so.1: cannot open shared object file\n"
    )
    assert explain_failure(log).what == "ImportError: libGL.so.1: cannot open shared object file"


@contextmanager
def serve(handler, secure=False):
    """A server of this machine; gives its port."""
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(HERE / "self_signed.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class Silent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


class AskingProxy(Silent):
    def do_CONNECT(self):
        self.send_response(407, "Proxy Authentication Required")
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def pip_goes_to(addon, tmp_path, monkeypatch):
    """Let pip look for packages there, and nowhere else; gives how installing ended."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in [name for name in os.environ if name.upper().startswith("PIP_") or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(installing, "REQUIREMENTS", {"one": "sinew_one==1.0"})
    monkeypatch.setattr(installing, "PINS", tmp_path / "pinned.txt")
    installing.PINS.write_text(f"sinew_one==1.0 --hash=sha256:{'0' * 64}\n")

    def install(index, **environment):
        monkeypatch.setenv("SINEW_INDEX", index)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        installing.start_installation(("one",), sys.executable)
        stop = time.monotonic() + 100.0
        while installing.poll_installation() is not None:
            assert time.monotonic() < stop
            time.sleep(0.02)
        return installing.current_installation()

    return install


def test_a_server_that_is_not_trusted(pip_goes_to):
    with serve(Silent, secure=True) as port:
        view = pip_goes_to(f"https://localhost:{port}/simple")
    assert "could not be trusted" in view.doing and "PIP_CERT" in view.fix


def test_a_server_that_is_not_there(pip_goes_to):
    with socket.socket() as held:
        held.bind(("localhost", 0))  # and does not listen
        view = pip_goes_to(f"http://localhost:{held.getsockname()[1]}/simple")
    assert view.doing == "The package index does not answer"


def test_a_name_that_nobody_knows(pip_goes_to):
    assert pip_goes_to("https://no-such-host.invalid/simple").doing.startswith("There is no network")


def test_a_proxy_that_asks_for_a_password(pip_goes_to):
    with serve(AskingProxy) as port:
        view = pip_goes_to("https://packages.invalid/simple", HTTPS_PROXY=f"http://localhost:{port}")
    assert view.doing == "The network's proxy asks for a name and a password"


def test_an_index_that_has_nothing_for_this_python(pip_goes_to, tmp_path):
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    view = pip_goes_to("http://unused.invalid", SINEW_WHEELS=str(shelf))
    assert view.doing.startswith("The package index has no sinew_one==1.0 for Python {}.{}".format(*sys.version_info))


@contextmanager
def unwritable(folder, *files):
    """A folder in which nothing can be made while these files in it can be written, for root as well."""
    folder.mkdir(parents=True)
    if os.geteuid() != 0:
        for name in files:
            (folder / name).touch()
        folder.chmod(0o555)
        try:
            yield
        finally:
            folder.chmod(0o755)
        return
    beside = folder.parent / "beside"
    beside.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=False).returncode != 0:
        pytest.skip("root may write anywhere but on a read-only disk, and may not mount one here")
    try:
        for name in files:
            (folder / name).touch()
            (beside / name).touch()
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        for name in files:
            subprocess.run(["mount", "--bind", str(beside / name), str(folder / name)], check=True)
        yield
    finally:
        for name in files:
            subprocess.run(["umount", "-l", str(folder / name)], check=False)
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX")
def test_a_folder_that_is_not_ours(pip_goes_to):
    root = packages.installed_root()
    with unwritable(root, "install.log", "lock"):
        view = pip_goes_to("http://unused.invalid")
    assert str(root) in view.doing and "user data folder" in view.fix


def test_the_panel_shows_what_it_is_and_the_fix(addon, monkeypatch):
    view = InstallationView("failed", "The disk is full", fix="Make room there")
    monkeypatch.setattr(installing, "_seen", [view])
    monkeypatch.setattr(readiness, "_known", [readiness.Readiness("python", "3.11", "MuJoCo 4", "", ("torch",))])
    page = Page(SINEW_PT_ready)
    assert "The disk is full" in page.text and "Make room there" in page.text
