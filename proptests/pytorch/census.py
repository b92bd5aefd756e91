"""What the compared Programs contained, kind by kind, so that one that never occurs is seen."""

from driver_calls import kind_of
from program_text import Statement, bytes_of

MIB = 2**20
SETTINGS = ["max_split_size_mb", "max_non_split_rounding_mb", "large_segment_size_mb",
            "garbage_collection_threshold", "roundup_power2_divisions",
            "per_process_memory_fraction", "throw_on_cudamalloc_oom", "release_lock_on_cudamalloc"]
# A run of many random Programs is to have each of these.
KINDS = [
    "two devices", "three devices", "a stream", "a launch", "a segment at a chosen address",
    "a small request", "a large request", "a request with a segment of its own",
    "a free block split", "a freed block merged", "a block used by a stream",
    "a block used on another device", "an event recorded", "an event found done",
    "an event found not done", "an event waited for", "garbage collected",
    "an oversize block released", "the whole cache released", "a limit of memory",
    "out of memory", "out of memory below a limit", "rejected", "a cache emptied",
    "an oversize allocation", "settings changed", *SETTINGS]


WORDS = {"stream": "a stream", "launch": "a launch",
         "next_segment": "a segment at a chosen address"}
TOTALS = ["num_alloc_retries", "inactive_split.all.current", "oversize_allocations.current"]


class Census:
    """Of one Program: how often it had each kind."""

    def __init__(self, statements: list[Statement]):
        self.found: dict[str, int] = {}
        self.before = dict.fromkeys(TOTALS, 0)
        self.settings: set[str] = set()
        devices = sum(statement.word == "gpu" for statement in statements)
        if devices > 1:
            self.see("two devices" if devices == 2 else "three devices")
        for statement in statements:
            if statement.word in WORDS:
                self.see(WORDS[statement.word])
            if statement.word in ("conf", "reconfigure"):
                self.settings |= {setting.split(":")[0] for setting in statement.settings()}
        for setting in self.settings:
            self.see(setting)

    def see(self, kind: str) -> None:
        self.found[kind] = self.found.get(kind, 0) + 1

    def note(self, statement: Statement, calls: list[str], lines: list[str],
             stats: list[dict]) -> None:
        """One operation of the allocator: its driver calls, its line and what is expected of it,
        and the statistics of each device after it."""
        totals = {key: sum(of_device.get(key, 0) for of_device in stats) for key in TOTALS}
        change = {key: totals[key] - self.before[key] for key in TOTALS}
        self.before = totals
        kinds = {kind_of(call) for call in calls}
        for call in calls:
            if kind_of(call) == "event_query":
                self.see(f"an event found {'done' if call.endswith(' done') else 'not done'}")
        if "event_record" in kinds:
            self.see("an event recorded")
        if "event_sync" in kinds:
            self.see("an event waited for")
        if statement.word == "alloc":
            self.note_alloc(bytes_of(statement.arguments[1]), lines, change)
            if "free" in kinds and not change["num_alloc_retries"]:
                self.note_release()
        if statement.word == "free" and change["inactive_split.all.current"] < 0:
            self.see("a freed block merged")
        if statement.word == "empty_cache" and "free" in kinds:
            self.see("a cache emptied")
        if statement.word == "memory_fraction" and float(statement.arguments[0]) < 1:
            self.see("a limit of memory")
        if statement.word == "reconfigure":
            self.see("settings changed")

    def note_alloc(self, size: int, lines: list[str], change: dict[str, int]) -> None:
        self.see("a small request" if size <= MIB else
                 "a large request" if size < 10 * MIB else "a request with a segment of its own")
        if change["inactive_split.all.current"] > 0:
            self.see("a free block split")
        if change["oversize_allocations.current"] > 0:
            self.see("an oversize allocation")
        if change["num_alloc_retries"] > 0:
            self.see("the whole cache released")
        if lines[0].endswith("rejected"):
            self.see("rejected")
        if lines[0].endswith("out_of_memory"):
            limited = any("oom(limit)" in line for line in lines)
            self.see("out of memory below a limit" if limited else "out of memory")

    def note_release(self) -> None:
        """Memory went back to make room for a request, and no second attempt was counted. Which
        step did it is told where the settings leave but one."""
        if "garbage_collection_threshold" not in self.settings:
            self.see("an oversize block released")
        elif "max_split_size_mb" not in self.settings:
            self.see("garbage collected")


def table(found: dict[str, int], programs: dict[str, int]) -> str:
    """Each kind, how often it was and in how many Programs."""
    rows = [f"  {kind}: {found.get(kind, 0)} in {programs.get(kind, 0)} Programs" for kind in KINDS]
    return "\n".join(rows)
