"""Two lessons as a reader meets them: JupyterLab in a browser, Run All, the slider moved."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the lessons need jupyter")
pytest.importorskip("jupyterlab", reason="the lessons are opened in JupyterLab")
pytest.importorskip("selenium", reason="selenium drives the browser")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

ROOT = Path(__file__).parent.parent
LESSONS = ("02-relative-positions", "08-a-real-voice")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMEDRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1300,1300",
)
SETTINGS = {
    # All cells stand in the page, not only those in the window.
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
SECONDS = 180  # for any one thing to happen, on a busy machine

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER), reason="chromium and chromedriver are not installed"
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a JupyterLab that serves copies of the lessons, without their outputs."""
    home = tmp_path_factory.mktemp("lab")
    for name in LESSONS:
        notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(notebook, home / f"{name}.ipynb")
    for plugin, setting in SETTINGS.items():
        path = home / f"settings/@jupyterlab/{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(setting))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with open(home / "server.log", "w") as log:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
                f"--ServerApp.root_dir={home}", "--IdentityProvider.token=",
            ],
            env=server_environment(home), stdout=log, stderr=log, cwd=home,
        )
        try:
            wait_for_server(address, server, home / "server.log")
            yield address
        finally:
            server.terminate()
            server.wait(SECONDS)


def server_environment(home):
    """The reader's environment, but nobody's settings, and this checkout's package."""
    search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | {
        "PYTHONPATH": search_path, "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def wait_for_server(address, server, log):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{address}/api", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not answer in {SECONDS} s:\n{log.read_text()}")


@pytest.fixture
def browser(tmp_path, request):
    """A browser; how the page looked at the end is kept in the directory RELPOS_ARTEFACTS."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(executable_path=CHROMEDRIVER))
    yield driver
    artefacts = Path(os.environ.get("RELPOS_ARTEFACTS", tmp_path))
    artefacts.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(artefacts / f"{request.node.callspec.id}.png"))
    driver.quit()


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_in_jupyterlab_and_its_slider_moves_the_picture(lesson, lab, browser):
    browser.get(f"{lab}/lab/tree/{lesson}.ipynb?reset")
    run_all(browser)

    assert complaints(browser) == []
    pictures = browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea img")
    assert pictures, "no figure"
    for picture in pictures:
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
        assert picture.is_displayed()
        assert int(picture.get_property("naturalWidth")) > 200

    at_first = picture_beside_slider(browser)
    moved = move_slider(browser, Keys.ARROW_RIGHT, otherwise_than=at_first)
    assert move_slider(browser, Keys.ARROW_LEFT, otherwise_than=moved) == at_first
    assert move_slider(browser, Keys.ARROW_RIGHT, otherwise_than=at_first) == moved


def run_all(browser):
    """Run > Run All Cells, and wait until every cell has its number or one has failed."""
    wait = WebDriverWait(browser, SECONDS)
    # Cells that are sent before the kernel has answered are lost.
    wait.until(lambda page: "Python 3 (ipykernel) | Idle" in text_of(page, "#jp-bottom-panel"))
    menu_item(browser, wait, ".lm-MenuBar-item", "Run").click()
    menu_item(browser, wait, ".lm-Menu-item", "Run All Cells").click()
    numbered = re.compile(r"\[\d+\]:")
    wait.until(lambda page: complaints(page) or all(map(numbered.fullmatch, prompts(page))))


def complaints(browser):
    """Texts of all errors and warnings on the page."""
    kinds = ("error", "stderr")
    selector = ",".join(f'[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in kinds)
    return [output.text for output in browser.find_elements(By.CSS_SELECTOR, selector)]


def text_of(browser, selector):
    return "".join(found.text for found in browser.find_elements(By.CSS_SELECTOR, selector))


def menu_item(browser, wait, selector, text):
    def find(page):
        items = page.find_elements(By.CSS_SELECTOR, selector)
        return next((item for item in items if item.text.split("\n")[0] == text), None)

    return wait.until(find)


def prompts(browser):
    """What stands before the code cells: ``[ ]:``, ``[*]:`` or ``[7]:``."""
    cells = browser.find_elements(By.CSS_SELECTOR, ".jp-CodeCell .jp-InputPrompt")
    return [cell.get_property("textContent") for cell in cells] or [""]


def picture_beside_slider(browser):
    """The data of the picture that the slider draws."""
    return browser.execute_script(
        "const picture = document.querySelector('.widget-interact img'); "
        "return picture && picture.src"
    )


def move_slider(browser, key, otherwise_than):
    """One step of the slider; returns the picture as soon as it differs."""
    handle = browser.find_element(By.CSS_SELECTOR, ".widget-interact .noUi-handle")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", handle)
    handle.send_keys(key)
    return WebDriverWait(browser, SECONDS).until(
        lambda page: picture_beside_slider(page) not in (None, otherwise_than)
        and picture_beside_slider(page)
    )
