"""The report on this computer's own address, for the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..exceptions import FileError

HOST = "127.0.0.1"  # loopback: nobody else on the network can ask


class _Page(BaseHTTPRequestHandler):
    """Answers with the page, whatever else is asked for is not found."""

    server: _Server

    def do_GET(self) -> None:
        """The page."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """The page's headers."""
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        # A page elsewhere whose name was made to lead to this computer may not read the report.
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        if self.path not in ("/", "/report.html"):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if with_body:
            self.wfile.write(self.server.page)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are of no interest."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, page: bytes) -> None:
        super().__init__((HOST, port), _Page)
        self.page = page
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}


def serve(html: str, port: int = 0, *, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Serve a page until Ctrl-C.

    Parameters
    ----------
    html
        The page.
    port
        0 takes one that is free.
    browser
        Whether to open the browser.
    say
        Called with the address.
    """
    try:
        server = _Server(port, html.encode("utf-8", "replace"))
    except (OSError, OverflowError) as error:
        raise FileError(f"port {port} cannot be used ({error}). Give another with --port, or none.") from error
    with server:
        address = f"http://{HOST}:{server.server_port}/"
        say(address)
        if browser:
            webbrowser.open(address)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return
