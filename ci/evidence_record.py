"""What a command found, kept as JSON for ci/evidence."""

import json
import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def circumstances(command, seconds):
    """Of a run: its words, the version of the tree, the processors it had, and how long it took."""
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout.strip()
    return {"command": " ".join(map(str, command)), "revision": revision,
            "processors": len(os.sched_getaffinity(0)), "seconds": round(seconds, 1)}


def place_of(name, is_whole):
    """Where figures go unless told: those of a part do not replace those of the whole."""
    return TOP / "build/evidence" / ("" if is_whole else "parts") / f"{name}.json"


def write(path, figures):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
