"""The figures of ci/faults: what the processes counted, added up; as tables, and for machines."""

import os
import re
import subprocess
from collections import defaultdict

# A call of the driver in src/allocator.
CALLS = ("malloc", "free", "mem_info", "event_create", "event_record", "event_query", "event_sync",
         "event_destroy", "ctx_record", "stream_sync", "device_sync", "stream_ctx", "stream_id")
CALL = re.compile(r"\bdriver_?\.(?:" + "|".join(CALLS) + r")\(")


def places_in_source(top):
    """Where src/allocator calls the driver: "src/allocator/x.cc:12"."""
    places = set()
    for path in sorted((top / "src/allocator").glob("*.cc")):
        if path.name.endswith("_test.cc"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if CALL.search(line.split("//")[0]):
                places.add(f"src/allocator/{path.name}:{number}")
    return places


def place_in_tree(place):
    """FILE:LINE from the top: a compiler's cache may give objects of another checkout."""
    within = re.search(r"(?:^|/)(src/\w+/[^/]+)$", os.path.normpath(place))
    return within[1] if within else place


class Figures:
    """Of all processes together. Keys: a call, an error, a mode, in words."""

    def __init__(self, program):
        self.program = program
        self.sources = {}  # (call, error): why it is documented.
        self.wanted = defaultdict(set)  # By call: (error, mode).
        self.errors = defaultdict(lambda: [0, 0])  # (call, error, mode): planned, came.
        self.sites = defaultdict(lambda: defaultdict(int))  # (address, call): (error, mode): times.
        self.scenarios = defaultdict(lambda: [0, 0, 0, 0])
        self.probes = defaultdict(int)
        self.pairs = self.pairs_planned = self.plays = 0
        self._places = None

    def add(self, tally):
        for line in tally.splitlines():
            what, *words = line.split("\t")
            getattr(self, f"_{what}")(*words)

    def _documented(self, call, error, source):
        self.sources[call, error] = source

    def _wanted(self, call, error, mode):
        self.wanted[call].add((error, mode))

    def _error(self, call, error, mode, planned, came):
        self.errors[call, error, mode][0] += int(planned)
        self.errors[call, error, mode][1] += int(came)

    def _site(self, address, call, error, mode, times):
        self.sites[int(address, 16), call][error, mode] += int(times)

    def _scenario(self, name, calls, of_ending, faults, pairs):
        counts = self.scenarios[name]
        counts[0], counts[1] = int(calls), int(of_ending)
        counts[2] += int(faults)
        counts[3] += int(pairs)

    def _probe(self, name, times):
        self.probes[name] += int(times)

    def _pairs(self, planned, came):
        self.pairs_planned += int(planned)
        self.pairs += int(came)

    def _plays(self, times):
        self.plays += int(times)

    def by_place(self):
        """(place, call): (error, mode): times. Of machine code that was made of one place."""
        if self._places is None:
            addresses = sorted(self.sites)
            asked = "\n".join(f"{address - 1:#x}" for address, _ in addresses)
            said = subprocess.run(["addr2line", "-e", self.program], input=asked, text=True,
                                  check=True, stdout=subprocess.PIPE).stdout.splitlines()
            self._places = defaultdict(lambda: defaultdict(int))
            for (address, call), place in zip(addresses, said):
                place = place_in_tree(place.split(" ")[0])
                for error, times in self.sites[address, call].items():
                    self._places[place, call][error] += times
        return self._places

    def places(self):
        return {place for place, _ in self.by_place()}

    def probes_not_hit(self):
        return [name for name, times in self.probes.items() if times == 0]

    def missing_errors(self):
        """Documented errors that were not seen at a place in a mode; of a place one word."""
        words = []
        for (place, call), seen in sorted(self.by_place().items()):
            missing = sorted(self.wanted[call] - set(seen))
            if missing:
                words.append(f"{place}: {call} never failed with {missing[0][0]}, {missing[0][1]}"
                             f" ({len(missing)} such)")
        return words + [f"{row['call']}: {row['faults_that_came']:,} of {row['faults_planned']:,}"
                        " faults came" for row in self.of_calls()
                        if row["faults_that_came"] != row["faults_planned"]]

    def of_calls(self):
        """A row for each kind of call."""
        rows = []
        for call in CALLS:
            places = [seen for (_, of), seen in self.by_place().items() if of == call]
            counts = [count for key, count in self.errors.items() if key[0] == call]
            sources = [source for (of, _), source in self.sources.items() if of == call]
            rows.append({
                "call": call, "places": len(places), "documented_errors": len(sources),
                **{f"errors_{source.replace(' ', '_')}": sources.count(source)
                   for source in ("own", "driver", "context", "earlier work")},
                "documented_pairs": len(places) * len(self.wanted[call]),
                "run_pairs": sum(len(self.wanted[call] & set(seen)) for seen in places),
                "faults_planned": sum(count[0] for count in counts),
                "faults_that_came": sum(count[1] for count in counts)})
        return rows

    def tables(self, place_count):
        lines = [f"{'scenario':36} {'calls':>6} {'at end':>6} {'faults':>7} {'pairs':>6}"]
        for name, counts in sorted(self.scenarios.items()):
            lines.append(f"{name:36} {counts[0]:6} {counts[1]:6} {counts[2]:7,} {counts[3]:6,}")
        lines += ["", f"{'driver call':14} {'places':>6} {'errors':>6} {'place x error x mode':>21}"
                      f" {'run':>6} {'faults':>9} {'came':>9}"]
        for row in self.of_calls():
            lines.append(f"{row['call']:14} {row['places']:6} {row['documented_errors']:6}"
                         f" {row['documented_pairs']:21,} {row['run_pairs']:6,}"
                         f" {row['faults_planned']:9,} {row['faults_that_came']:9,}")
        hit = len(self.probes) - len(self.probes_not_hit())
        return lines + ["", f"places in src/allocator that call the driver: {place_count}, "
                            f"{len(self.places())} reached",
                        f"pairs of failures: {self.pairs_planned:,}, {self.pairs:,} came",
                        f"probes of error branches: {len(self.probes)}, {hit} hit"]

    def as_json(self, place_count):
        rows = self.of_calls()
        return {
            "scenarios": [{"scenario": name, "driver_calls": counts[0],
                           "driver_calls_at_the_end": counts[1], "single_faults": counts[2],
                           "pairs": counts[3]} for name, counts in sorted(self.scenarios.items())],
            "driver_calls": rows,
            "call_sites": place_count, "call_sites_reached": len(self.places()),
            "documented_site_error_mode": sum(row["documented_pairs"] for row in rows),
            "run_site_error_mode": sum(row["run_pairs"] for row in rows),
            "single_faults": sum(row["faults_that_came"] for row in rows),
            "pairs_planned": self.pairs_planned, "pairs": self.pairs, "runs": self.plays,
            "probes": len(self.probes), "probes_hit": len(self.probes) - len(self.probes_not_hit()),
            "probe_counts": [{"probe": name, "times": times}
                             for name, times in self.probes.items()]}
