"""The report on this computer's own address."""

from __future__ import annotations

import http.client
import socket
import threading

import pytest

from internals import page as serving
from outfold.exceptions import FileError


@pytest.fixture
def server():
    made = serving._Server(0, serving._only("<p>é</p>"))
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server, path="/", method="GET", host=None):
    asked = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    asked.request(method, path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    answer = asked.getresponse()
    body = answer.read()
    asked.close()
    return answer, body


def test_the_page_is_served(server):
    answer, body = ask(server)
    assert (answer.status, body.decode()) == (200, "<p>é</p>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    answer, body = ask(server, method="HEAD")
    assert (answer.status, body) == (200, b"")


def test_nothing_else_is_served(server):
    assert ask(server, "/../../etc/passwd")[0].status == 404
    assert ask(server, method="POST")[0].status == 501


def test_only_this_computer_is_answered(server):
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, host="example.invalid")[0].status == 403
    assert ask(server, host=f"localhost:{server.server_port}")[0].status == 200


def test_a_port_in_use_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FileError, match=r"cannot be used .*Give another port, or none"):
            serving.serve("", taken.getsockname()[1], browser=False)
    with pytest.raises(FileError, match="port 99999 cannot be used"):
        serving.serve("", 99999, browser=False)


@pytest.mark.parametrize("browser", [True, False])
def test_the_address_is_said_and_the_browser_opened(monkeypatch, browser):
    said, opened = [], []
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)

    def stop(self, poll_interval):
        raise KeyboardInterrupt

    monkeypatch.setattr(serving._Server, "serve_forever", stop)
    serving.serve("", browser=browser, say=said.append)
    assert said[0].startswith("http://127.0.0.1:")
    assert opened == (said if browser else [])
