"""A browser for tests: the few commands of the W3C WebDriver protocol that they need, over plain http."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_LOCAL = ("file:", "data:", "blob:", "about:", "chrome:", "chrome-untrusted:")
_OPTIONS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --hide-scrollbars"""


def installed() -> tuple[str, str] | None:
    """Paths of browser and driver; None where one is missing."""
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    driver = shutil.which("chromedriver")
    return None if browser is None or driver is None else (browser, driver)


class Browser:
    """One headless browser with one window."""

    def __init__(self, browser: str, driver: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._root = f"http://127.0.0.1:{port}"
        self.folder = Path(tempfile.mkdtemp(prefix="outfold-browser-"))
        self._driver = subprocess.Popen(
            [driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._wait()
            options = {"binary": browser, "args": [*_OPTIONS.split(), f"--user-data-dir={self.folder / 'profile'}"]}
            wanted = {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "unhandledPromptBehavior": "ignore",
            }
            made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self._root += f"/session/{made['sessionId']}"
            # The browser's own first page must not be in the way of what is logged later.
            self._ask("POST", "/url", {"url": "about:blank"})
            self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))
        except BaseException:
            self.close()
            raise

    def _wait(self) -> None:
        for _ in range(150):
            try:
                self._ask("GET", "/status")
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the driver of the browser does not answer")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self._root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path: Path) -> None:
        """Load a file; what was logged before is forgotten."""
        self.logs("browser")
        self.logs("performance")
        self.visit(path.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Load what a server has at this address."""
        self._ask("POST", "/url", {"url": address})

    def run(self, script: str, *args: Any) -> Any:
        """What a script returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def settle(self) -> None:
        """Wait until what was asked for has been drawn, events of scrolling included."""
        script = (
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)))"
        )
        self._ask("POST", "/execute/async", {"script": script, "args": []})

    def cdp(self, command: str, **options: Any) -> Any:
        """A command of the browser's own protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": options})

    def logs(self, kind: str) -> list[dict[str, Any]]:
        """What was logged since the last call."""
        return self._ask("POST", "/se/log", {"type": kind})

    def requested(self) -> list[str]:
        """Addresses asked for since the page was opened, other than files, data and the browser's own pages."""
        events = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(_LOCAL)]

    def has_dialog(self) -> bool:
        """Whether an alert stands open."""
        try:
            self._ask("GET", "/alert/text")
        except RuntimeError:
            return False
        return True

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as a person would."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x: float, y: float) -> None:
        """Move the pointer."""
        move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def show(self, width: int, height: int = 900, scheme: str = "light", media: str = "") -> None:
        """Set the size of the window, light or dark, and screen or print."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp(
            "Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def picture(self, path: Path, height: int) -> None:
        """A picture of the upper part of the page."""
        clip = {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1}
        data = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End the browser and its driver."""
        with contextlib.suppress(OSError, RuntimeError):
            self._ask("DELETE", "")
        self._driver.terminate()
        self._driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
