"""Rebuilds the memory that a recorded Program starts from (`segment`, `block`) by allocations and
frees, so that an allocator that cannot be given a map has the same one.

Segment by segment, in order of address, so that the oldest segment is the lowest, and whichever
rule breaks a tie in best fit gives the recorded one. A large segment is asked for whole and freed;
then the blocks are carved out of it, the free ones too, lowest first. Nothing else is free by then,
so each comes next to the one before. In the end the free ones are freed.
"""

import dataclasses

from program_text import Unsupported, bytes_of

MIB = 2**20


@dataclasses.dataclass
class Segment:
    address: int
    size: int
    pool: str
    rest: list[str]  # Its stream, and its device where one is named.
    blocks: list[tuple[str, int]] = dataclasses.field(default_factory=list)

    @property
    def stream(self) -> str:
        return self.rest[0]

    def check(self) -> None:
        """Refuses by name what no sequence of requests makes."""
        where = f"the segment at {self.address:#x}"
        if len(self.rest) > 1:
            raise Unsupported(f"{where} is of another device")
        if self.pool == "small" and self.size != 2 * MIB:
            raise Unsupported(f"{where} is small, and not of 2 MiB")
        if self.pool == "large" and (self.size < 10 * MIB or self.size % (2 * MIB)):
            raise Unsupported(f"{where} is large, and no multiple of 2 MiB from 10 MiB")
        least = 0 if self.pool == "small" else MIB
        for name, size in self.blocks:
            if size <= least or (self.pool == "small" and name != "-" and size > MIB):
                raise Unsupported(f"{where} has a block of {size} bytes")


def segments_of(lines: list[str]) -> list[Segment]:
    segments: list[Segment] = []
    for line in lines:
        word, *rest = line.split("#")[0].split() or [""]
        if word == "segment":
            segments.append(Segment(int(rest[0], 16), bytes_of(rest[1]), rest[2], rest[3:]))
        if word == "block":
            segments[-1].blocks.append((rest[0], bytes_of(rest[1])))
    return segments


def carve(segment: Segment, number: int) -> tuple[list[str], list[str]]:
    """The statements that make the segment with all its blocks live, and those that free some."""
    stream = segment.stream
    made, freed = [f"next_segment {segment.address:#x}"], []
    if segment.pool == "large":
        made += [f"alloc whole{number} {segment.size} {stream}", f"free whole{number}"]
    at = segment.address
    for index, (name, size) in enumerate(segment.blocks):
        # A small request is of at most 1 MiB; two free neighbours become one.
        parts = [MIB, size - MIB] if segment.pool == "small" and size > MIB else [size]
        for part, piece in enumerate(parts):
            called = name if name != "-" else f"free{number}_{index}_{part}"
            made.append(f"alloc {called} {piece} {stream} = {at:#x}")
            at += piece
            if name == "-":
                freed.append(f"free {called}")
    return made, freed


def without_segments(text: str) -> str:
    """The Program, with a prelude in place of its segments; as it is where it has none."""
    lines = text.splitlines()
    segments = segments_of(lines)
    if not segments:
        return text
    made, freed = [], []
    for number, segment in enumerate(sorted(segments, key=lambda each: each.address)):
        segment.check()
        statements, frees = carve(segment, number)
        made += statements
        freed += frees
    declared = [line for line in lines if line.split() and line.split()[0] in ("gpu", "conf")]
    others = [line for line in lines
              if line.split() and line.split()[0] not in ("gpu", "conf", "segment", "block")]
    return "\n".join([*declared, *made, *freed, *others]) + "\n"
