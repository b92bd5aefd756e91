#!/usr/bin/env python3
"""Writes sources of the allocator with one race planted in them.

usage: plant.py RACE SOURCE_FOLDER OUTPUT_FOLDER
       plant.py --list

--list prints each race and the sources that it changes. A text that is no longer in its source is
an error: then the race must be planted anew. Exits 0, or 2 where it cannot be planted.
"""

import sys
from pathlib import Path

DEVICE = "allocator/device_allocator.cc"
FENCING = "allocator/fencing.cc"

# As CUB had it: the block waits for an event that is recorded only after the lock was left, so that
# who looks meanwhile sees the event done.
RECORDED_LATER = """
thread_local std::vector<std::pair<StreamRef, EventHandle>> recorded_later;

namespace {

struct RecordsLater {
  Driver& driver;
  ~RecordsLater() {
    for (const auto& [stream, event] : recorded_later)
      static_cast<void>(driver.event_record(stream, event));
    recorded_later.clear();
  }
};
"""
LATER = "  const RecordsLater later{shared_.driver};\n"
LOCK = "  const auto state = state_.lock();\n"
SIGNATURES = [
    "Result<bool, Error> DeviceAllocator::free(Address address, const BlockCheck* check) {\n",
    "Result<bool, Error> DeviceAllocator::free_on(Address address, const UserStream& stream) {\n",
    "Result<Done, Error> DeviceAllocator::forget_stream(StreamKey stream) {\n",
]
EARLY = "extern thread_local std::vector<std::pair<StreamRef, EventHandle>> recorded_later;\n"
DIRECTLY = ("Result<bool, Error> Fencing::fence_directly(StreamKey stream, StreamRef as, "
            "Block* block) {\n")
# Of several uses the last alone is late, so that the calls come in their order.
EARLIER = ("  for (const auto& [earlier, event] : recorded_later)\n"
           "    static_cast<void>(context_.driver.event_record(earlier, event));\n"
           "  recorded_later.clear();\n")

# Race: source: pairs of text and what stands in its place.
RACES = {
    "event_after_unlock": {
        DEVICE: [("\nnamespace {\n", RECORDED_LATER),
                 *[(line + LOCK, line + LATER + LOCK) for line in SIGNATURES]],
        FENCING: [
            ("namespace cairn {\n", "namespace cairn {\n\n" + EARLY),
            (DIRECTLY, DIRECTLY + EARLIER),
            ("  const auto recorded = "
             "state.noted(context_.driver.event_record(as, taken->event));\n",
             "  recorded_later.emplace_back(as, taken->event);\n"
             "  const DriverResult<Done> recorded = Done{};\n"),
        ],
    },
    "table_outside_lock": {
        DEVICE: [
            (SIGNATURES[0] + LOCK + "  const auto found = find_live(*state, address);\n",
             SIGNATURES[0] + "  DeviceState* open = nullptr;\n"
             "  const auto found = [&] {\n"
             "    const auto state = state_.lock();\n"
             "    open = &*state;\n"
             "    return find_live(*state, address);\n"
             "  }();\n"),
            ("  return free_with_uses(*state, *block);\n",
             "  return free_with_uses(*open, *block);\n"),
        ],
    },
    "statistic_without_lock": {
        DEVICE: [
            ("DeviceStats DeviceAllocator::stats() const { "
             "return state_.lock()->heap.ledger().read(); }\n",
             "DeviceStats DeviceAllocator::stats() const {\n"
             "  const Heap& heap = state_.lock()->heap;\n"
             "  return heap.ledger().read();\n"
             "}\n"),
        ],
    },
}


def plant(race, sources, output):
    for name, changes in RACES[race].items():
        text = (sources / name).read_text(encoding="utf-8")
        for old, new in changes:
            if text.count(old) != 1:
                print(f"plant.py: {race}: {name} has not once:\n{old}", file=sys.stderr)
                return 2
            text = text.replace(old, new)
        planted = output / name
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text(text, encoding="utf-8")
    return 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        for race, sources in RACES.items():
            print(" ".join([race, *sources]))
        return 0
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if len(arguments) != 3 or arguments[0] not in RACES:
        print(f"plant.py: what is {' '.join(arguments)}?\n{__doc__}", file=sys.stderr)
        return 2
    return plant(arguments[0], Path(arguments[1]), Path(arguments[2]))


if __name__ == "__main__":
    sys.exit(main())
