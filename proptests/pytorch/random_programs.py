"""Random Programs that PyTorch can carry out: streams, uses, splits, settings, tight memory."""

import random

MIB = 2**20
SETTINGS = ["", "", "", "max_split_size_mb:32", "garbage_collection_threshold:0.6",
            "roundup_power2_divisions:4", "max_split_size_mb:64,garbage_collection_threshold:0.5",
            "max_non_split_rounding_mb:24,max_split_size_mb:40",
            "roundup_power2_divisions:[64:2,256:4,>:8]"]


class Story:
    """One Program as it grows."""

    def __init__(self, dice: random.Random):
        self.dice = dice
        self.streams = ["s0"] + [f"s{n}" for n in range(1, dice.choice([1, 2, 3, 4]))]
        self.memory = dice.choice([128, 256, 1024, 80 * 1024])
        self.lines = [f"gpu 0 memory={self.memory}MiB"]
        conf = dice.choice(SETTINGS)
        if conf:
            self.lines.append(f"conf {conf}")
        self.lines += [f"stream {name}" for name in self.streams[1:]]
        self.live: list[str] = []
        self.stream_of: dict[str, str] = {}
        self.made = 0

    def size(self) -> int:
        dice = self.dice
        kind = dice.randrange(6)
        if kind == 0:
            return dice.randint(1, 4096)
        if kind == 1:
            return dice.randint(1, MIB)
        if kind == 2:
            return dice.choice([512, MIB, MIB + 1, 10 * MIB - 1, 10 * MIB, 20 * MIB, 2 * MIB])
        if kind == 3:
            return dice.randint(MIB, 10 * MIB)
        if kind == 4:
            return dice.randint(10 * MIB, 60 * MIB)
        return 512 * dice.randint(1, 2048)

    def alloc(self) -> None:
        self.made += 1
        name = f"a{self.made}"
        self.live.append(name)
        self.stream_of[name] = self.dice.choice(self.streams)
        self.lines.append(f"alloc {name} {self.size()} {self.stream_of[name]}")

    def step(self) -> None:
        dice = self.dice
        kind = dice.randrange(100)
        if kind < 45 or not self.live:
            self.alloc()
        elif kind < 75:
            self.lines.append(f"free {self.live.pop(dice.randrange(len(self.live)))}")
        elif kind < 83:
            self.lines.append(f"use {dice.choice(self.live)} {dice.choice(self.streams)}")
        elif kind < 90:
            name, stream = dice.choice(self.live), dice.choice(self.streams)
            if stream != self.stream_of[name]:
                self.lines += [f"order {self.stream_of[name]} {stream}", f"use {name} {stream}"]
            self.lines.append(f"launch {stream} {name} {dice.randint(1, 100)}")
        elif kind < 94:
            self.lines.append(f"advance {dice.randint(1, 100)}")
        elif kind < 96:
            self.lines.append(dice.choice(["sync", f"sync {dice.choice(self.streams)}"]))
        elif kind < 98:
            self.lines.append("empty_cache")
        else:
            self.lines.append(f"memory_fraction {dice.choice([0.25, 0.5, 0.75, 1.0])}")


def random_program(seed: int) -> str:
    dice = random.Random(seed)
    story = Story(dice)
    for _ in range(dice.choice([20, 60, 150])):
        story.step()
    return "\n".join(story.lines) + "\n"
