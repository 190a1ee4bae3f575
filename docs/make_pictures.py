"""Makes the pictures in docs/pictures from the demo: the asset graph, a report, and a cluster before and after.

Run `python3 quickstart.py demo` first, then `python docs/make_pictures.py`. It needs Chromium (Debian's package
`chromium`) and starts the UI on loopback for a moment.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
STORE = HERE.parent / "data" / "demo" / "store.duckdb"
COMMAND = Path(sys.executable).with_name("memory-pipeline")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1"
).split()
#: Seconds that the UI may take to start.
_PATIENCE_S = 90.0


def main() -> None:
    """Make all pictures. Exits with a message if Chromium or the demo's store is missing."""
    if shutil.which("chromium") is None:
        sys.exit("chromium is not installed; the pictures are made with it")
    if not STORE.exists():
        sys.exit(f"'{STORE}' does not exist; run 'python3 quickstart.py demo' first")
    PICTURES.mkdir(exist_ok=True)
    page = _last_report()
    _take(page.as_uri(), "report.png", 1000, 1150)
    _take(_largest_cluster(page).as_uri(), "cluster.png", 1000, 420)
    port = _free_port()
    ui = subprocess.Popen([COMMAND, "ui", "--port", str(port), "--store", STORE], start_new_session=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/server_info")
        _take(
            f"http://127.0.0.1:{port}/assets/exports?view=lineage&lineageScope=upstream&lineageDepth=20",
            "graph.png",
            2400,
            640,
            wait_ms=30_000,
        )
    finally:
        os.killpg(ui.pid, signal.SIGINT)
        ui.wait(timeout=60)


def _last_report() -> Path:
    """The page of the newest night."""
    told = subprocess.run([COMMAND, "report", "--json", "--store", STORE], capture_output=True, check=True).stdout
    return STORE.parent / "reports" / f"compression-{json.loads(told)['run_id']}.html"


def _largest_cluster(page: Path) -> Path:
    """A page with the first cluster of a report alone."""
    text = page.read_text("utf-8")
    start = text.index("<div class='cluster")
    alone = text[: text.index("<h1>")] + text[start : text.index("</div>", start)] + "</div></html>"
    target = Path(tempfile.mkdtemp()) / "cluster.html"
    target.write_text(alone, "utf-8")
    return target


def _take(address: str, name: str, width: int, height: int, wait_ms: int = 5_000) -> None:
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium",
                *_FLAGS,
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                f"--virtual-time-budget={wait_ms}",
                f"--screenshot={PICTURES / name}",
                address,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    print(f"{PICTURES / name}: {(PICTURES / name).stat().st_size:,} bytes")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(address: str) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"{address} did not answer within {_PATIENCE_S:.0f} s")


if __name__ == "__main__":
    main()
