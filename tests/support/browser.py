"""A page opened in a real browser, from a file as its reader would; skipped where there is no browser."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs a browser: apt-get install chromium chromium-driver"
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module", name="driver")
def driver_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    options = Options()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ["no_proxy"] = ",".join(filter(None, [os.environ.get("no_proxy"), "127.0.0.1", "localhost"]))
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def visit(driver: Chrome, path: Path, width: int = 1400, scheme: str = "light", script: bool = True) -> None:
    """Open a page anew, in a window of that width (CSS pixels), light or dark, with or without JavaScript."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(path.as_uri())


def requests(driver: Chrome) -> list[str]:
    """The addresses that the page opened last has asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [entry["params"]["request"]["url"] for entry in messages if entry["method"] == "Network.requestWillBeSent"]
