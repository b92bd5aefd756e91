"""What ci/mutate needs beside what building needs: clang's library, and its face in Python."""

import subprocess
from pathlib import Path

PACKAGES = ("python3-clang-19", "libclang-19-dev")


class Missing(Exception):
    """A package that cannot be had."""


def prepare():
    """Sees to it that the packages are there, by apt-get where it can."""
    if subprocess.run(["ci/setup", "quickstart"], check=False).returncode:
        raise Missing("ci/setup failed")
    here = Path("/usr/lib/python3/dist-packages/clang/cindex.py").exists()
    if here and Path("/usr/lib/llvm-19/lib/libclang-19.so.19").exists():
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False)
    except FileNotFoundError as why:
        raise Missing(f"no apt-get here; needed are {' and '.join(PACKAGES)}") from why
    if done.returncode:
        raise Missing(f"apt-get does not install {' and '.join(PACKAGES)}: {done.stderr[-500:]}")
