"""Random Programs that PyTorch can carry out: devices, streams, uses, splits, settings, memory that
is tight."""

import dataclasses
import random

MIB = 2**20


@dataclasses.dataclass(frozen=True)
class Stream:
    name: str
    device: int


def random_settings(dice: random.Random) -> list[str]:
    """Each setting that the wheel knows and that matters here, on its own or with others."""
    chosen = []
    segment = dice.choice([12, 16, 24, 30]) if dice.random() < 0.12 else 20
    if segment != 20:
        chosen.append(f"large_segment_size_mb:{segment}")
    if dice.random() < 0.3:
        chosen.append(f"max_split_size_mb:{dice.choice([segment, 32, 40, 64])}")
    if dice.random() < 0.15:
        chosen.append(f"max_non_split_rounding_mb:{dice.choice([segment, 32, 48])}")
    if dice.random() < 0.35:
        chosen.append(f"garbage_collection_threshold:{dice.choice([0.2, 0.4, 0.6, 0.8])}")
    if dice.random() < 0.3:
        divisions = dice.choice(["2", "4", "8", "16", "[64:2,256:4,>:8]", "[1:4,2:8,4:2,>:1]"])
        chosen.append(f"roundup_power2_divisions:{divisions}")
    if dice.random() < 0.1:
        chosen.append(f"per_process_memory_fraction:{dice.choice([0.3, 0.5, 0.8])}")
    if dice.random() < 0.1:
        chosen.append("throw_on_cudamalloc_oom:True")
    if dice.random() < 0.1:
        chosen.append("release_lock_on_cudamalloc:True")
    return chosen


class Story:
    """One Program as it grows."""

    def __init__(self, dice: random.Random):
        self.dice = dice
        self.devices = dice.choice([1, 1, 2, 2, 3])
        self.device = 0  # The current one.
        self.streams = [Stream("s0", device) for device in range(self.devices)]
        for number in range(dice.choice([0, 1, 2, 3, 4])):
            self.streams.append(Stream(f"s{number + 1}", dice.randrange(self.devices)))
        memory = dice.choice([64, 128, 256, 1024, 80 * 1024])
        self.lines = [f"gpu {device} memory={memory}MiB" for device in range(self.devices)]
        conf = random_settings(dice)
        if conf:
            self.lines.append(f"conf {','.join(conf)}")
        self.lines += [f"stream {stream.name} gpu={stream.device}"
                       for stream in self.streams if stream.name != "s0"]
        if "garbage" in " ".join(conf):  # It looks at the limit alone.
            for device in range(self.devices):
                self.lines.append(f"memory_fraction {self.fraction()} gpu={device}")
        # Where segments lie: by themselves in order of their age, or anywhere, for ties.
        self.places = dice.sample(range(400), 400) if dice.random() < 0.5 else []
        self.live: list[str] = []
        self.stream_of: dict[str, Stream] = {}
        self.made = 0

    def fraction(self) -> float:
        return self.dice.choice([0.25, 0.4, 0.5, 0.75, 0.9])

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

    def on(self, stream: Stream) -> str:
        """Its name, after its device was made the current one."""
        if stream.device != self.device:
            self.device = stream.device
            self.lines.append(f"device {stream.device}")
        return stream.name

    def other_stream(self, name: str) -> Stream:
        """A stream for memory of that name, mostly one of its device."""
        own = self.stream_of[name]
        near = [stream for stream in self.streams if stream.device == own.device]
        return self.dice.choice(near if self.dice.random() < 0.7 else self.streams)

    def use(self, name: str, stream: Stream) -> None:
        self.lines.append(f"use {name} {self.on(stream)}")

    def order(self, before: Stream, after: Stream) -> bool:
        """False: both are named s0, which is a stream of one device at a time."""
        if before.name == after.name == "s0":
            return False
        by_device = before if before.name == "s0" else after
        self.on(by_device)
        self.lines.append(f"order {before.name} {after.name}")
        return True

    def alloc(self) -> None:
        self.made += 1
        name = f"a{self.made}"
        self.live.append(name)
        self.stream_of[name] = self.dice.choice(self.streams)
        stream = self.on(self.stream_of[name])
        if self.places and self.dice.random() < 0.5:
            place = 0x300000000000 + (self.device << 40) + self.places.pop() * 128 * MIB
            self.lines.append(f"next_segment {place:#x}")
        self.lines.append(f"alloc {name} {self.size()} {stream}")

    def launch(self) -> None:
        name = self.dice.choice(self.live)
        stream, own = self.other_stream(name), self.stream_of[name]
        if stream != own:
            if not self.order(own, stream):
                return
            self.use(name, stream)
        self.lines.append(f"launch {self.on(stream)} {name} {self.dice.randint(1, 100)}")

    def sync(self) -> None:
        if self.dice.random() < 0.5:
            self.lines.append(f"sync gpu={self.dice.randrange(self.devices)}")
        else:
            self.lines.append(f"sync {self.on(self.dice.choice(self.streams))}")

    def step(self) -> None:
        dice = self.dice
        kind = dice.randrange(100)
        if kind < 45 or not self.live:
            self.alloc()
        elif kind < 72:
            self.lines.append(f"free {self.live.pop(dice.randrange(len(self.live)))}")
        elif kind < 79:
            name = dice.choice(self.live)
            self.use(name, self.other_stream(name))
        elif kind < 88:
            self.launch()
        elif kind < 92:
            self.lines.append(f"advance {dice.randint(1, 100)}")
        elif kind < 95:
            self.sync()
        elif kind < 97:
            self.lines.append("empty_cache")
        elif kind < 99:
            fraction = 1.0 if dice.random() < 0.3 else self.fraction()
            self.lines.append(f"memory_fraction {fraction} gpu={dice.randrange(self.devices)}")
        else:  # A max_split_size is unlimited then (V8). A lower one would be V1.
            self.lines.append("reconfigure " + dice.choice(
                ["garbage_collection_threshold:0.5", "roundup_power2_divisions:8",
                 "garbage_collection_threshold:0.3,roundup_power2_divisions:[1:2,>:4]"]))


def random_program(seed: int) -> str:
    dice = random.Random(seed)
    story = Story(dice)
    for _ in range(dice.choice([20, 60, 150])):
        story.step()
    return "\n".join(story.lines) + "\n"
