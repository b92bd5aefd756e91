"""What recording needs, and what is said where it is not here."""

import sys

TESTED_TORCH = "2.10.0"


def fail(words):
    print(words, file=sys.stderr)
    sys.exit(2)


def need_torch():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        fail(f"torch cannot be loaded ({error}): pip install torch=={TESTED_TORCH} numpy")
    return torch
