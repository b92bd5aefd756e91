"""A Program without what a deviation is about: what must agree then, if it differs by that."""

from program_text import read


def without_kernels(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("launch "))


def foreign_default_uses(text: str) -> set[int]:
    """The lines on which a block of a default stream is used by another device's default stream
    (V6), and those of kernels there that depend on it."""
    device = 0
    home: dict[str, tuple[str, int]] = {}  # The stream and the device of each name.
    lost: set[tuple[str, int]] = set()
    lines: set[int] = set()
    for statement in read(text):
        arguments = statement.arguments
        if statement.word == "device":
            device = int(arguments[0])
        if statement.word == "alloc":
            home[arguments[0]] = (arguments[2] if len(arguments) > 2 else "s0", device)
            lost -= {each for each in lost if each[0] == arguments[0]}
        if statement.word == "use" and arguments[1] == "s0":
            stream, of = home.get(arguments[0], ("", device))
            if stream == "s0" and of != device:
                lines.add(statement.line)
                lost.add((arguments[0], device))
        if statement.word == "launch" and (arguments[1], device) in lost and arguments[0] == "s0":
            lines.add(statement.line)
    return lines


def without_foreign_default_uses(text: str) -> str:
    left_out = foreign_default_uses(text)
    return "".join(f"{line}\n" for number, line in enumerate(text.splitlines(), start=1)
                   if number not in left_out)
