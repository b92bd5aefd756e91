"""C of a model, to be driven: what invariants/protocol/steps.h declares, over what murphi2c makes
of it."""

import itertools
import re

from model_text import bounds_of, constants_of, in_c, invariants_of, rules_of, variables_of

ANSWER = re.compile(r"\[([^\]]+)\]$")
BLOCK = ("state", "size", "requested", "stream", "indexed", "listed", "uses", "event_count",
         "queued")


def places(constants):
    """The variables that transitions have, in their order."""
    segments = range(constants["segments"])
    streams = range(constants["streams"])
    for name in ("length", "owner"):
        yield from (f"{name}.data[{s}]" for s in segments)
    for s, g in itertools.product(segments, range(constants["granules"])):
        for field in BLOCK:
            place = f"blocks.data[{s}].data[{g}].{field}"
            if field in ("uses", "queued"):
                yield from (f"{place}.data[{t}]" for t in streams)
            else:
                yield place
    yield from (f"may_be_in_use.data[{t}]" for t in streams)
    yield from ("unused_events", "lost", "allocation", "active", "pending", "inactive_split",
                "segment_count")
    yield from (f"out.data[{s}]" for s in segments)
    yield from ("phase", "asked_size", "asked_stream")


def steps_of(text, header):
    """Rule, answer and parameters of each step, in order of the rules."""
    bounds = bounds_of(text)
    for rule in rules_of(text):
        if rule.startswith("world: "):
            continue
        answer = ANSWER.search(rule)
        words = re.search(rf"^void rule_{in_c(rule)}\(([^)]*)\);", header, re.M)[1]
        types = [] if words == "void" else [word.split()[0] for word in words.split(", ")]
        ranges = [range(bounds[name][0], bounds[name][1] + 1) for name in types]
        for values in itertools.product(*ranges):
            yield rule, answer[1] if answer else "", ", ".join(map(str, values))


def switch(kind, calls, otherwise):
    cases = "".join(f"    case {number}: {call};\n" for number, call in enumerate(calls))
    return f"  switch ({kind}) {{\n{cases}    default: {otherwise};\n  }}\n"


def function(head, body):
    return f"{head} {{\n{body}}}\n\n"


def state_functions(text):
    variables = variables_of(text)
    sizes = " + ".join(f"sizeof {name}" for name in variables)
    save = "".join(f"  memcpy(bytes, &{name}, sizeof {name}); bytes += sizeof {name};\n"
                   for name in variables)
    load = "".join(f"  memcpy(&{name}, bytes, sizeof {name}); bytes += sizeof {name};\n"
                   for name in variables)
    wipe = "".join(f"  memset(&{name}, 0, sizeof {name});\n" for name in variables)
    numbered = list(places(constants_of(text)))
    read = "".join(f"  {place} = numbers[{at}];\n" for at, place in enumerate(numbered))
    write = "".join(f"  numbers[{at}] = {place};\n" for at, place in enumerate(numbered))
    return (function("size_t model_size(void)", f"  return {sizes};\n")
            + function("void model_save(unsigned char* bytes)", save)
            + function("void model_restore(const unsigned char* bytes)", load)
            + function("int model_numbers(void)", f"  return {len(numbered)};\n")
            + function("void model_read(const int* numbers)", wipe + read)
            + function("void model_write(int* numbers)",
                       write + "  if (freeing) numbers[0] = -2;\n"))


def source(text, header):
    """`header`: what murphi2c makes of the model, as text; it is included as model.h."""
    steps = list(steps_of(text, header))
    names = switch("step", [f'return "{rule}"' for rule, _, _ in steps], 'return ""')
    answers = switch("step", [f'return "{answer}"' for _, answer, _ in steps], 'return ""')
    guards = switch("step", [f"return guard_{in_c(rule)}({values})" for rule, _, values in steps],
                    "return 0")
    acts = switch("step", [f"rule_{in_c(rule)}({values}); break" for rule, _, values in steps],
                  "break")
    holds = "".join(f'  if (!{in_c(key + ": " + words)}()) return "{key}: {words}";\n'
                    for key, words in invariants_of(text))
    return ('#include "model.h"\n#include "steps.h"\n\n' + state_functions(text)
            + function("int model_steps(void)", f"  return {len(steps)};\n")
            + function("const char* model_rule(int step)", names)
            + function("const char* model_answer(int step)", answers)
            + function("int model_may(int step)", guards)
            + function("void model_do(int step)", acts)
            + function("const char* model_broken(void)", holds + "  return 0;\n"))
