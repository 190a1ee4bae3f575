"""Sets everything up in `.venv` and runs what you ask for. Requires only Python 3.11 or newer.

python3 quickstart.py demo     set up, then run the demo
python3 quickstart.py test     set up with the test tools, then run the tests
python3 quickstart.py setup    set up only
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent
VENV = HOME / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
#: A test double for the Messages API, installed without its declared dependencies (an old web framework), which it
#: does not use.
MODEL_SERVER = "mock-ai-api==0.1.1"


def main(arguments: list[str]) -> int:
    """Set up, run, and return the exit code."""
    what = arguments[0] if arguments else ""
    if what not in ("demo", "test", "setup"):
        print(__doc__)
        return 2
    if sys.version_info < (3, 11):
        print(f"This is Python {sys.version.split()[0]}; memory_pipeline needs 3.11 or newer.", file=sys.stderr)
        return 1
    try:
        set_up(extras="[dev]" if what == "test" else "")
    except subprocess.CalledProcessError as error:
        print(f"Setting up failed: {' '.join(error.cmd)} ended with {error.returncode}.", file=sys.stderr)
        if "venv" in error.cmd:
            print("On Debian and Ubuntu, install the package python3-venv and run this again.", file=sys.stderr)
        return 1
    if what == "demo":
        return subprocess.call([str(BIN / "memory-pipeline"), "demo", *arguments[1:]], cwd=HOME)
    if what == "setup":
        print(f"Next, with a folder of notes of yours: {BIN / 'memory-pipeline'} audit PATH, then init PATH")
    if what == "test":
        return subprocess.call([str(BIN / "python"), "-m", "pytest", *arguments[1:]], cwd=HOME)
    return 0


def set_up(extras: str) -> None:
    """Create the virtual environment and install the project with its model, unless that was done for this
    `pyproject.toml` and these extras."""
    read = b"".join(path.read_bytes() for path in (HOME / "pyproject.toml", Path(__file__)))
    digest = hashlib.sha256(read).hexdigest()
    done = VENV / f"installed{extras}.txt"
    if done.exists() and done.read_text() == digest:
        return
    if not (BIN / "python").exists() and not (BIN / "python.exe").exists():
        print("Creating .venv ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    print("Installing (a minute or two the first time) ...", flush=True)
    subprocess.run([*pip, "--editable", f"{HOME}{extras}"], check=True)
    subprocess.run([str(BIN / "memory-pipeline"), "model", "install"], check=True)
    if extras:
        subprocess.run([*pip, "--no-deps", MODEL_SERVER], check=True)
    done.write_text(digest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
