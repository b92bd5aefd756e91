"""Runs mutants: first what each engine reaches, then each mutant through the engines that reach it,
up to the first that kills it. What came of a mutant is kept, so that a run can go on."""

import json
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from mutate_engines import (ENGINES, SMALLEST_LIMIT, TIMES, Verdict, command_of, judged,
                            listed_tests, reached_by, run)
from mutate_tree import CANARY, TOP, TREE, Broken, core_files, digest, text_of

REACH = TREE / "reach.json"
KEPT = TREE / "verdicts.jsonl"
QUICK = 0.1  # Seconds. Tests that take less run together.
HISTORIC_SECONDS = 60.0


def invariants():
    text = (TOP / "invariants/catalogue/catalogue.h").read_text()
    return set(re.findall(r'"([A-Z]\d{1,2})", *Cost::', text))


class Unit:
    """A test, or the run of a program: how long it takes, and which mutants it reaches."""

    def __init__(self, test, seconds, reached):
        self.test, self.seconds, self.reached = test, seconds, frozenset(reached)


class Reach:
    """What reaches what, by the name of the engine."""

    def __init__(self, report, jobs):
        self.report, self.jobs = report, jobs
        self.units = {}

    def learn(self):
        """Of each engine that is built; again only where it was built since."""
        kept = json.loads(REACH.read_text()) if REACH.exists() else {}
        for engine in ENGINES:
            if not engine.binary().exists():
                self.report(f"{engine.name}: not built, and left out")
                continue
            stamp = [str(engine), os.stat(engine.binary()).st_mtime]
            known = kept.get(engine.name)
            if known is None or known["stamp"] != stamp:
                units = self.learn_one(engine)
                known = {"stamp": stamp,
                         "units": [[u.test, u.seconds, sorted(u.reached)] for u in units]}
                kept[engine.name] = known
                REACH.write_text(json.dumps(kept))
            self.units[engine.name] = [Unit(*u) for u in known["units"]]
        return self

    def engines(self):
        return [engine for engine in ENGINES if engine.name in self.units]

    def learn_one(self, engine):
        tests = listed_tests(engine) if engine.tests else [""]
        with ThreadPoolExecutor(self.jobs) as pool:
            units = list(pool.map(lambda test: self.learn_unit(engine, test), tests))
        seconds = sum(u.seconds for u in units)
        reached = len(frozenset().union(*(u.reached for u in units)))
        self.report(f"{engine.name}: {len(units)} runs, {seconds:.1f} s, reach {reached} mutants")
        return units

    def learn_unit(self, engine, test):
        ran, reached = reached_by(command_of(engine, [test]), dict(engine.environment))
        if not ran.is_fine():
            raise Broken(f"{engine.name} fails without a mutant: {test} {ran.output[-1500:]}")
        return Unit(test, ran.seconds, reached)

    def of(self, engine, number):
        return [u for u in self.units[engine.name] if number in u.reached]


class Runner:
    def __init__(self, reach, report, jobs):
        self.reach, self.report, self.jobs = reach, report, jobs
        self.invariants = invariants()
        self.lock = threading.Lock()

    def attempt(self, engine, tests, number, seconds):
        environment = {**dict(engine.environment), "CAIRN_MUTANT": str(number)}
        return run(command_of(engine, tests), environment, seconds)

    def kill(self, mutant):
        """Which engine kills the mutant, and how; the first that does, or in which it runs out of
        time: an endless loop would be one in each."""
        used, reached = 0.0, False
        about_locks = mutant.site.operator.startswith("lock")
        for engine in self.reach.engines():
            if not engine.is_for(about_locks):
                continue
            for units in portions(self.reach.of(engine, mutant.number)):
                reached = True
                limit = max(SMALLEST_LIMIT, TIMES * sum(u.seconds for u in units))
                ran = self.attempt(engine, [u.test for u in units], mutant.number, limit)
                used += ran.seconds
                if not ran.is_fine():
                    verdict = judged(engine, ran, self.invariants)
                    verdict.seconds = used
                    return verdict
        return Verdict("survived" if reached else "not reached", seconds=used)

    def controls(self):
        """The canary dies in each engine, and without a mutant each is fine."""
        for engine in self.reach.engines():
            units = sorted(self.reach.units[engine.name], key=lambda u: u.seconds)[:3]
            tests = [u.test for u in units]
            seconds = max(SMALLEST_LIMIT, TIMES * sum(u.seconds for u in units))
            if self.attempt(engine, tests, CANARY, seconds).is_fine():
                raise Broken(f"{engine.name} passes with the canary, which always fails")
            ran = self.attempt(engine, tests, 0, seconds)
            if not ran.is_fine():
                raise Broken(f"{engine.name} fails without a mutant: {ran.output[-1500:]}")

    def run(self, mutants, fresh, left_out):
        """Verdicts by id. What was killed before in the same core is not run again, nor what is
        left out since it is explained."""
        kept = {} if fresh else self.kept()
        kept |= {name: Verdict("equivalent") for name in left_out if name not in kept}
        verdicts = {m.id: kept[m.id] for m in mutants if m.id in kept}
        left = [m for m in mutants if m.id not in verdicts]
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        began, done = time.monotonic(), 0
        with open(KEPT, "w" if fresh else "a", encoding="utf-8") as store:
            with ThreadPoolExecutor(self.jobs) as pool:
                futures = {pool.submit(self.kill, m): m for m in left}
                for future in ended(pool, futures):
                    mutant, verdict = futures[future], future.result()
                    verdicts[mutant.id] = verdict
                    done += 1
                    store.write(json.dumps([core_version(), mutant.id, verdict.result,
                                            verdict.engine, verdict.by, verdict.seconds]) + "\n")
                    store.flush()
                    self.progress(mutant, verdict, done, len(left), time.monotonic() - began)
        return verdicts

    def progress(self, mutant, verdict, done, count, seconds):
        if verdict.result in ("survived", "not reached", "timed out"):
            self.report(f"{verdict.result} [{mutant.id}] {mutant.told()}")
        if done % 50 == 0 or done == count:
            self.report(f"{done} of {count} in {seconds:.0f} s")

    def kept(self):
        verdicts = {}
        if KEPT.exists():
            for line in KEPT.read_text().splitlines():
                version, name, result, engine, by, seconds = json.loads(line)
                if version != core_version():
                    continue
                verdicts.pop(name, None)
                if result.startswith(("killed", "crashed")):
                    verdicts[name] = Verdict(result, engine, by, seconds)
        return verdicts

    def historic(self, fault):
        """Runs what reaches the fault, for a minute in all, up to what fails in the words that must
        kill it; first the tests that have such a word in their name."""
        about_locks = "ThreadSanitizer" in fault.kills
        runs = [(not any(w in u.test for w in fault.kills), place, u.seconds, engine, u)
                for place, engine in enumerate(self.reach.engines()) if engine.is_for(about_locks)
                for u in self.reach.of(engine, fault.number)]
        others, used = [], 0.0
        for _, _, _, engine, unit in sorted(runs, key=lambda r: r[:3]):
            if used >= HISTORIC_SECONDS:
                break
            ran = self.attempt(engine, [unit.test], fault.number, HISTORIC_SECONDS - used)
            used += ran.seconds
            if ran.is_fine():
                continue
            verdict = judged(engine, ran, self.invariants)
            verdict.seconds = used
            for wanted in fault.kills:
                if not ran.out_of_time and names(f"{unit.test} {ran.output}", wanted):
                    verdict.by = wanted
                    return verdict, others
            others.append(f"{unit.test or engine.name}: {verdict.by or verdict.result}")
        return Verdict("survived", seconds=used), others


def ended(pool, futures):
    """As they end. Where the run is interrupted, none begins any more."""
    try:
        yield from as_completed(futures)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def portions(units):
    """What runs at once: all that is quick, then each of the others, the quickest first."""
    quick = [u for u in units if u.seconds < QUICK]
    slow = sorted((u for u in units if u.seconds >= QUICK), key=lambda u: u.seconds)
    return [quick, *([u] for u in slow)] if quick else [[u] for u in slow]


def names(output, wanted):
    """Whether the words of a failure are of this invariant, or have this in them."""
    if re.fullmatch(r"[A-Z]\d{1,2}", wanted):
        return re.search(rf"\b{wanted}(?: \(|: )", output) is not None
    return wanted in output


def core_version():
    if not hasattr(core_version, "now"):
        core_version.now = digest(*(text_of(f) for f in core_files()))[:12]
    return core_version.now
