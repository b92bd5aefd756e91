"""What ci/mutate needs beside what building needs: clang's library, and its face in Python."""

import subprocess


class Missing(Exception):
    """A package that cannot be had."""


def prepare():
    """Sees to it that the packages are there."""
    if subprocess.run(["ci/setup", "test"], check=False).returncode:
        raise Missing("ci/setup failed")
