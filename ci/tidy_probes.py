"""Rules of ci/tidy about probes: every error branch has one, and every one that is listed stands in
the code."""

import re

LIST = "invariants/catalogue/probes.h"
FOLDERS = ("src/heap/", "src/allocator/")

LISTED = re.compile(r'^\s+"([a-z_]+\.[a-z_]+)",$', re.MULTILINE)
PROBE = re.compile(r'\bCAIRN_PROBE\("([^"]+)"\)')
BEGINS_WITH_PROBE = re.compile(r"\s*\{?\s*CAIRN_PROBE\(")
ENDS_WITH_PROBE = re.compile(r"\bCAIRN_PROBE\(\s*\);\s*$")
COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)

# What gives a failure, or throws one.
FAILS = re.compile(r"\breturn (?:over\(\s*)?(?:Failure\{|failure\()"
                   r"|\bthrow \w|\bthrow_error\(")
CATCHES = re.compile(r"\bcatch\s*\([^)]*\)")
IF = re.compile(r"\bif \(")
# The conditions of error branches: a result that is not there, a failure of a certain kind, a
# device that is lost.
FAILED = re.compile(r"^!(?!is_|has_|may_)[a-z](?:\w*[a-z])?(?: &&.*)?$", re.DOTALL)
COMPARED = re.compile(r"\.error\(\) [!=]= |\bis_made_good\(")
LOST = re.compile(r"^(?:const auto \w+ = )?[\w.>-]*lost(?:\(\))?$")
# A lambda's head, whose body makes failures for others.
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*\([^()]*\)\s*\{\s*$")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def is_source(name):
    return name.startswith(FOLDERS) and name.endswith(".cc") and not name.endswith("_test.cc")


def closing(code, opening):
    """The place after the bracket that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def is_error(condition):
    return bool(FAILED.search(condition) or COMPARED.search(condition) or LOST.search(condition))


def block_around(code, place):
    """The place after the brace that opens the block around `place`."""
    depth = 0
    for at in range(place - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(code[at], 0)
        if depth < 0:
            return at + 1
    return 0


def is_probed(code, after_condition):
    """Whether the branch begins with a probe, or with an error branch of its own."""
    if BEGINS_WITH_PROBE.match(code, after_condition):
        return True
    inner = re.compile(r"\s*\{\s*if \(").match(code, after_condition)
    return bool(inner and is_error(code[inner.end():closing(code, inner.end() - 1) - 1]))


def unprobed_places(code, in_allocator):
    """Where in the code, without comments and texts, an error branch has no probe; and why."""
    for match in FAILS.finditer(code):
        before = re.search(r"[^;{}]*$", code[:match.start()]).start()
        is_branch = not LAMBDA.search(code[:before])
        has_probe = (ENDS_WITH_PROBE.search(code[:before])
                     or BEGINS_WITH_PROBE.match(code, block_around(code, before)))
        if is_branch and not has_probe:
            yield match.start(), "a failure"
    for match in CATCHES.finditer(code):
        if not BEGINS_WITH_PROBE.match(code, match.end()):
            yield match.start(), "what is caught"
    for match in IF.finditer(code):
        end = closing(code, match.end() - 1)
        condition = code[match.end():end - 1]
        if in_allocator and is_error(condition) and not is_probed(code, end):
            yield match.start(), f"if ({condition})"


def unprobed_error_branch(tree):
    """An error branch of src/heap and src/allocator begins with a CAIRN_PROBE."""
    for name, text in sorted(tree.files.items()):
        if not is_source(name):
            continue
        code = COMMENT_OR_TEXT.sub(blank, text)
        for at, what in unprobed_places(code, name.startswith(FOLDERS[1])):
            yield name, code.count("\n", 0, at) + 1, f"{what}: no CAIRN_PROBE stands before it"


def stray_probe(tree):
    """Each probe that is listed stands in the code, once, and each in the code is listed."""
    listed = LISTED.findall(tree.files.get(LIST, ""))
    found = {}
    for name, text in sorted(tree.files.items()):
        if not is_source(name):
            continue
        for match in PROBE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if match[1] in found:
                yield name, line, f"{match[1]} stands at {found[match[1]]} too"
            if match[1] not in listed:
                yield name, line, f"{match[1]} is not in {LIST}"
            found.setdefault(match[1], f"{name}:{line}")
    for probe in listed:
        if probe not in found:
            yield LIST, 1, f"{probe} is nowhere in {' and '.join(FOLDERS)}"


def branch(condition, act, probe='CAIRN_PROBE("a.b");'):
    return f"void f() {{\n  if ({condition}) {{\n    {probe}\n    {act}\n  }}\n}}\n"


# As in ci/tidy: a file with a violation, and the same made right.
SOUND = {LIST: 'x{\n    "a.b",\n};\n', "src/heap/probed.cc": 'f() { CAIRN_PROBE("a.b"); }\n'}
RULES = {
    unprobed_error_branch: [
        ("src/allocator/a.cc", branch("x == 0", "return Failure{1};", ""),
         branch("x == 0", "return Failure{1};")),
        ("src/allocator/a.cc", branch("x == 0", "return over(Failure{1});", "g();"),
         branch("x == 0", "return over(\n  Failure{1});")),
        ("src/allocator/a.cc", branch("!x", "return x;", ""), branch("!x", "return x;")),
        ("src/allocator/a.cc", "f() {\n  if (!x) return x;\n}\n", "f() {\n  if (!is_x) g();\n}\n"),
        ("src/allocator/a.cc", branch("state.lost", "return;", ""),
         branch("state.lost", "return;")),
        ("src/allocator/a.cc", branch("x.error() == Y", "return g(h());", "// CAIRN_PROBE(x);"),
         branch("x.error() == Y", "return g(h());")),
        ("src/heap/a.cc", "f() {\n  try {\n  } catch (...) {\n    g();\n  }\n}\n",
         'f() {\n  try {\n  } catch (...) {\n    CAIRN_PROBE("a.b");\n  }\n}\n'),
        ("src/heap/a.cc", "f() {\n  throw Unsupported(1);\n}\n",
         "auto g = [&](int x) { return Failure{x}; };\n")],
    stray_probe: [
        (LIST, 'x{\n    "a.b",\n    "a.c",\n};\n', 'x{\n    "a.b",\n};\n'),
        ("src/heap/a.cc", 'CAIRN_PROBE("a.b");\n', "int x;\n"),
        ("src/heap/a.cc", 'CAIRN_PROBE("a.d");\n', "int x;\n")],
}
