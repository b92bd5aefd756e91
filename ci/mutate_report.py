"""The tables of a run: in words, for machines, and the part of proptests/mutants/README.md that is
made of them."""

import json
import tomllib
from collections import Counter

from evidence_record import circumstances
from mutate_tree import TOP, Broken

FOLDER = TOP / "proptests/mutants"
EQUIVALENT = FOLDER / "equivalent.toml"
RESULTS = FOLDER / "results.csv"
README = FOLDER / "README.md"
BEGIN, END = "<!-- made by ci/mutate -->", "<!-- end -->"
BEGIN_HISTORIC = "<!-- made by ci/mutate --historic -->"
MOST_EQUIVALENT = 0.05
COLUMNS = ("killed by invariant", "killed by test", "killed by oracle", "crashed", "timed out",
           "survived", "not reached", "equivalent")


def equivalents():
    """The arguments, by the id of the mutant."""
    if not EQUIVALENT.exists():
        return {}
    entries = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    told = {entry["id"]: entry for entry in entries}
    if len(told) != len(entries):
        raise Broken(f"{EQUIVALENT.name} names a mutant twice")
    return told


def faults_of_equivalents(mutants):
    """What is wrong with the file of arguments: entries that match no mutant, or too many."""
    yield from faults_of(equivalents(), mutants)


def faults_of(told, mutants):
    by_id = {m.id: m for m in mutants}
    for name, entry in told.items():
        mutant = by_id.get(name)
        if mutant is None:
            yield f"{name} ({entry['file']}: {entry['change']}) is no mutant of this version"
        elif not entry.get("why", "").strip():
            yield f"{name} has no argument"
        elif entry["change"] != change_of(mutant):
            yield f"{name} is {change_of(mutant)}, and the file says {entry['change']}"
    if len(told) > MOST_EQUIVALENT * len(mutants):
        yield f"{len(told)} of {len(mutants)} mutants are explained; at most 5 % may be"


def explain(mutant, why):
    if mutant.id in equivalents():
        raise Broken(f"{mutant.id} is explained already")
    entry = (("id", mutant.id), ("file", mutant.file), ("change", change_of(mutant)), ("why", why))
    words = "\n".join(f"{key} = {json.dumps(value)}" for key, value in entry)
    with open(EQUIVALENT, "a", encoding="utf-8") as file:
        file.write(f"\n[[mutant]]\n{words}\n")


def change_of(mutant):
    return f"{mutant.site.function}: {mutant.site.operator}: {mutant.site.old} -> " \
           f"{mutant.site.new}"


def killed_though_explained(verdicts):
    """An argument that a test has proved wrong."""
    return [name for name in equivalents() if name in verdicts and is_dead(verdicts[name].result)]


def is_dead(result):
    return result.startswith(("killed", "crashed"))


def counted(mutants, verdicts, told):
    """A Counter of results for each file."""
    files = {}
    for mutant in mutants:
        counts = files.setdefault(mutant.file, Counter())
        result = verdicts[mutant.id].result
        is_excused = mutant.id in told and not is_dead(result)
        counts["equivalent" if is_excused else result] += 1
    return files


def score(counts):
    """Of what is not equivalent, the part that was killed; what ran out of time was not."""
    all_of_them = sum(counts.values()) - counts["equivalent"]
    killed = sum(n for result, n in counts.items() if is_dead(result))
    return 100.0 * killed / all_of_them if all_of_them else 100.0


def table(files):
    width = max(len(name) for name in files) + 2
    head = ("invariant", "test", "oracle", "crash", "time", "alive", "unreached", "equal")
    yield "".join([f"{'file':{width}}", *(f"{h:>10}" for h in head), f"{'all':>7}{'score':>8}"])
    total = Counter()
    for name in sorted(files):
        total += files[name]
        yield row(name, files[name], width)
    yield row("all", total, width)


def row(name, counts, width):
    return "".join([f"{name:{width}}", *(f"{counts[c]:>10}" for c in COLUMNS),
                    f"{sum(counts.values()):>7}{score(counts):>7.1f}%"])


def by_engine(verdicts):
    return Counter(v.engine for v in verdicts.values() if is_dead(v.result))


def by_invariant(verdicts):
    return Counter(v.by for v in verdicts.values() if v.result == "killed by invariant")


def by_invariant_and_engine(verdicts):
    counts = {}
    for v in verdicts.values():
        if v.result == "killed by invariant":
            counts.setdefault(v.by, Counter())[v.engine] += 1
    return counts


def generated(mutants, verdicts, seconds):
    """The part of README.md that a run over all mutants makes."""
    files = counted(mutants, verdicts, equivalents())
    total = sum(files.values(), Counter())
    yield f"{sum(total.values())} mutants, of which {total['equivalent']} are explained as " \
          f"equivalent: score {score(total):.1f} %. {seconds / 60:.0f} minutes."
    yield ""
    yield "| file | invariant | test | oracle | crash | out of time | survived | not reached " \
          "| equivalent | score |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, counts in [*sorted(files.items()), ("all", total)]:
        figures = " | ".join(str(counts[c]) for c in COLUMNS)
        yield f"| {name} | {figures} | {score(counts):.1f} % |"
    for title, counts in (("engine", by_engine(verdicts)), ("invariant", by_invariant(verdicts))):
        yield from ("", f"| killed by {title} | mutants |", "|---|---|")
        yield from (f"| {name} | {n} |" for name, n in counts.most_common())


def generated_historic(historic):
    """And that of the faults of the past."""
    yield from ("| fault of the past | bugs | what | must be killed by | killed by | s |",
                "|---|---|---|---|---|---|")
    for fault, verdict, _ in historic:
        killer = f"{verdict.engine}: {verdict.by}" if verdict.engine else "nothing of that"
        yield (f"| {fault.name} | {', '.join(fault.bugs)} | {fault.what} | "
               f"{', '.join(fault.kills)} | {killer} | {verdict.seconds:.1f} |")


def write_table(begin, lines):
    before, rest = README.read_text().split(begin)
    README.write_text("\n".join([before + begin, *lines, END]) + rest.split(END, 1)[1])


def write_tree(mutants, verdicts, seconds):
    """The tables in the tree: README.md and results.csv."""
    lines = ["id,file,line,operator,result,engine,by"]
    for m in mutants:
        v = verdicts[m.id]
        lines.append(",".join((m.id, m.file, str(m.site.line), m.site.operator, v.result, v.engine,
                               v.by.replace(",", ";"))))
    RESULTS.write_text("\n".join(lines) + "\n")
    write_table(BEGIN, generated(mutants, verdicts, seconds))


def figures(mutants, verdicts, seconds, words):
    files = counted(mutants, verdicts, equivalents())
    total = sum(files.values(), Counter())
    by_id = {m.id: m for m in mutants}
    alive = [{"id": i, "result": v.result, "mutant": by_id[i].told()} for i, v in verdicts.items()
             if v.result in ("survived", "not reached", "timed out") and i not in equivalents()]
    return {**circumstances(["ci/mutate", *words], seconds),
            "mutants": sum(total.values()), "score_percent": round(score(total), 2),
            "results": dict(total),
            "files": [{"file": name, "mutants": sum(c.values()), "score_percent":
                       round(score(c), 2), **c} for name, c in sorted(files.items())],
            "killed_by_engine": dict(by_engine(verdicts)),
            "killed_by_invariant": by_invariant_and_engine(verdicts), "not_killed": alive}


def historic_figures(historic, seconds, words):
    faults = [{"name": f.name, "bugs": f.bugs, "must_be_killed_by": f.kills, "killed_by": v.by,
               "engine": v.engine, "seconds": round(v.seconds, 1),
               "is_killed_as_named": v.result != "survived", "others": others}
              for f, v, others in historic]
    return {**circumstances(["ci/mutate", *words], seconds), "faults": len(faults),
            "killed_as_named": sum(f["is_killed_as_named"] for f in faults), "each": faults}
