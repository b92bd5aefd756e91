"""Where a source file can be mutated, and how: found in clang's syntax tree.

A Site is a range of the text and what stands there instead in one mutant. Ranges are whole
expressions or whole statements, so that they nest.
"""

import re
import sys
from dataclasses import dataclass, field

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-clang-19, for any python3.

# pylint: disable=wrong-import-position
from clang import cindex

LIBRARY = "/usr/lib/llvm-19/lib/libclang-19.so.19"
FLAGS = ["-xc++", "-std=c++20", "-Isrc", "-I.", "-DCAIRN_INVARIANT_LEVEL=3"]
MACROS = re.compile(r"\b(CAIRN_AUDIT|CAIRN_HOLDS|CAIRN_PROBE)\s*\(")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|",
              "|": "&", "^": "&", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}
STEPS = {"++": "--", "--": "++"}
COMMUTATIVE = {"min", "max"}
NEVER_RETURNS = {"throw_error"}
Kind = cindex.CursorKind


@dataclass(frozen=True)
class Change:
    """What stands at a range in one mutant. `form`: an expression, a statement, or a statement
    that is put in before (`insert`, of an empty range)."""
    begin: int
    end: int
    new: str
    form: str = "expression"


@dataclass
class Site:
    operator: str
    function: str
    line: int
    old: str
    new: str
    changes: list = field(default_factory=list)


def balanced(text, start):
    """Where the parentheses that open at `start` are closed."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


class Finder:
    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.sites = []
        self.seen = set()
        self.macros = [(m.start(), balanced(text, m.end() - 1)) for m in MACROS.finditer(text)]

    # ---- text ----

    def range_of(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text_of(self, cursor):
        begin, end = self.range_of(cursor)
        return self.text[begin:end]

    def is_here(self, cursor):
        begin, end = self.range_of(cursor)
        file = cursor.extent.start.file
        if file is None or file.name != self.path or end <= begin:
            return False
        return not any(begin < b and a < end for a, b in self.macros
                       if not (begin <= a and b <= end and b - a < end - begin))

    def in_macro(self, begin, end):
        return any(begin < b and a < end for a, b in self.macros)

    # ---- what is found ----

    def add(self, operator, function, cursor, new):
        begin, end = self.range_of(cursor)
        self.put(operator, function, self.text[begin:end], new, [Change(begin, end, new)])

    def put(self, operator, function, old, new, changes):
        key = tuple((c.begin, c.end, c.new) for c in changes)
        if key in self.seen or any(self.in_macro(c.begin, c.end) for c in changes):
            return
        self.seen.add(key)
        line = self.text.count("\n", 0, changes[0].begin) + 1
        self.sites.append(Site(operator, function, line, " ".join(old.split()),
                               " ".join(new.split()), changes))

    # ---- the walk ----

    def find(self, unit):
        for cursor in unit.cursor.get_children():
            self.walk(cursor, "", None)
        return self.sites

    def walk(self, cursor, function, parent):
        if cursor.kind != Kind.NAMESPACE and not self.is_here(cursor):
            return
        if is_constant(cursor, self.text_of(cursor)):
            return
        if cursor.kind in (Kind.CXX_METHOD, Kind.FUNCTION_DECL, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
                           Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION):
            function = qualified(cursor)
        elif cursor.kind == Kind.FIELD_DECL:
            function = qualified(cursor)
        if function:
            self.visit(cursor, function, parent)
        for child in cursor.get_children():
            in_type = (cursor.kind in (Kind.FIELD_DECL, Kind.VAR_DECL, Kind.FUNCTION_DECL,
                                       Kind.CXX_METHOD)
                       and child.extent.end.offset <= cursor.location.offset)
            if not in_type:
                self.walk(child, function, cursor)

    def visit(self, cursor, function, parent):
        kind = cursor.kind
        if kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR):
            self.binary(cursor, function)
        elif kind == Kind.CALL_EXPR:
            self.call(cursor, function)
        elif kind == Kind.UNARY_OPERATOR:
            self.unary(cursor, function, parent)
        elif kind in (Kind.IF_STMT, Kind.WHILE_STMT, Kind.FOR_STMT, Kind.CONDITIONAL_OPERATOR):
            self.condition(cursor, function)
        elif kind == Kind.INTEGER_LITERAL:
            self.integer(cursor, function, parent)
        elif kind == Kind.CXX_BOOL_LITERAL_EXPR:
            now = self.text_of(cursor)
            self.add("constant", function, cursor, {"true": "false", "false": "true"}.get(now, now))
        elif kind == Kind.DECL_REF_EXPR:
            self.named_constant(cursor, function)
        elif kind == Kind.COMPOUND_STMT:
            self.statements(cursor, function)
        elif kind == Kind.RETURN_STMT:
            self.returned(cursor, function)
        elif kind == Kind.INIT_LIST_EXPR:
            self.swaps(list(cursor.get_children()), function)
        if kind in (Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT):
            for child in list(cursor.get_children())[-2:]:
                self.statement(child, function)

    def operands(self, cursor):
        """Left, operator, right, of what is an infix expression; else None."""
        children = list(cursor.get_children())
        if len(children) < 2 or not all(self.is_here(c) for c in (children[0], children[-1])):
            return None
        begin, end = self.range_of(cursor)
        left, right = self.range_of(children[0]), self.range_of(children[-1])
        if left[0] != begin or right[1] != end or left[1] > right[0]:
            return None
        return self.text_of(children[0]), self.text[left[1]:right[0]].strip(), self.text_of(
            children[-1])

    def binary(self, cursor, function):
        parts = self.operands(cursor)
        if parts is None:
            return
        left, sign, right = parts
        if sign in RELATIONS:
            self.add("relation", function, cursor, f"{left} {RELATIONS[sign]} {right}")
        elif sign in ARITHMETIC and "basic_string" not in canonical(cursor.type):
            self.add("arithmetic", function, cursor, f"{left} {ARITHMETIC[sign]} {right}")
        elif sign in ("&&", "||"):
            self.add("condition dropped", function, cursor, f"bool({left})")
            self.add("condition dropped", function, cursor, f"bool({right})")
            other = "||" if sign == "&&" else "&&"
            self.add("logic", function, cursor, f"bool({left}) {other} bool({right})")

    def call(self, cursor, function):
        arguments = [a for a in cursor.get_arguments() if a is not None]
        if cursor.spelling.startswith("operator"):
            self.binary(cursor, function)
            return
        text = self.text_of(cursor)
        if cursor.spelling == "lock" and text.endswith(".lock()"):
            self.add("lock dropped", function, cursor, text[:-len("lock()")] + "unlocked()")
        if cursor.spelling == "try_lock_lane":
            new = text.replace("try_lock_lane(", "unlocked_lane(")
            self.add("lock dropped", function, cursor, new)
        if cursor.spelling == "noted" and len(arguments) == 1:
            self.add("error check lost", function, cursor, self.text_of(arguments[0]))
        if cursor.spelling in COMMUTATIVE or not self.is_here(cursor):
            return
        self.swaps(arguments, function)

    def swaps(self, arguments, function):
        for a, b in zip(arguments, arguments[1:]):
            same = canonical(a.type) == canonical(b.type) != ""
            if not same or not self.is_here(a) or not self.is_here(b):
                continue
            first, second = self.text_of(a), self.text_of(b)
            if first == second or "{" in (first[:1], second[:1]):
                continue
            changes = [Change(*self.range_of(a), second), Change(*self.range_of(b), first)]
            if changes[0].end <= changes[1].begin:
                self.put("arguments swapped", function, f"{first}, {second}", f"{second}, {first}",
                         changes)

    def unary(self, cursor, function, parent):
        text = self.text_of(cursor)
        operand = [c for c in cursor.get_children()]
        if not operand or not self.is_here(operand[0]):
            return
        inner = self.text_of(operand[0])
        if text[:2] in STEPS and parent is not None and parent.kind == Kind.FOR_STMT:
            return  # It would never end.
        if text[:2] in STEPS:
            self.add("arithmetic", function, cursor, f"{STEPS[text[:2]]}{inner}")
        elif re.match("!(?!=)", text) and not is_condition(parent):
            self.add("negation", function, cursor, f"bool({inner})")
        elif text[0] == "-":
            self.add("arithmetic", function, cursor, inner)
        elif text[0] == "~":
            self.add("arithmetic", function, cursor, inner)

    def condition(self, cursor, function):
        if re.match(r"if\s+constexpr", self.text_of(cursor)):
            return
        children = list(cursor.get_children())
        if cursor.kind == Kind.FOR_STMT:
            children = [c for c in children if same_kind_of_bool(c)]
        given = next((c for c in children if is_expression(c)), None)
        if given is None or any(c.kind == Kind.VAR_DECL for c in children[:1]):
            return
        now = self.text_of(given)
        self.add("never", function, given, f"(bool({now}), false)")
        loops = cursor.kind in (Kind.WHILE_STMT, Kind.FOR_STMT)
        if not loops:
            self.add("always", function, given, f"(bool({now}), true)")
        if cursor.kind == Kind.IF_STMT and is_failure(self.text_of(children[-1])):
            self.relabel("never", given, "error check lost")

    def relabel(self, operator, cursor, better):
        begin, end = self.range_of(cursor)
        for site in self.sites:
            change = site.changes[0]
            if site.operator == operator and (change.begin, change.end) == (begin, end):
                site.operator = better

    def integer(self, cursor, function, parent):
        text = self.text_of(cursor)
        digits = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]*", text)
        if not digits:
            return
        value = int(digits[1], 0)
        if value >= 1 << 32:  # Multipliers of hashes, of which any odd one will do.
            return
        wide = parent
        kind = cursor.type
        if wide is not None and wide.kind == Kind.UNEXPOSED_EXPR and self.range_of(
                wide) == self.range_of(cursor):
            kind = wide.type
        name = canonical(kind)
        if parent.kind == Kind.INIT_LIST_EXPR and canonical(parent.type).startswith("cairn::"):
            name = "unsigned long"  # Of Bytes, Address, StreamId: their one member.
        cast = (lambda v: f"static_cast<{name}>({v})") if re.fullmatch(
            r"(unsigned |signed )?(long long|long|int|short|char)", name) else str
        self.add("constant", function, cursor, cast(value + 1))
        if value > 0:
            self.add("constant", function, cursor, cast(value - 1))

    def named_constant(self, cursor, function):
        told = cursor.referenced
        if told is None or told.kind != Kind.VAR_DECL or "constexpr" not in declaration_of(told):
            return
        name, kind = self.text_of(cursor), canonical(told.type)
        if kind == "cairn::Bytes":
            for sign in "+-":
                self.add("bound", function, cursor, f"{name} {sign} ::cairn::Bytes{{512}}")
        elif re.fullmatch(r"(unsigned )?(long|int|short|char)", kind):
            for sign in "+-":
                self.add("bound", function, cursor, f"static_cast<{kind}>({name} {sign} 1)")

    def returned(self, cursor, function):
        value = next(iter(cursor.get_children()), None)
        if value is None or not self.is_here(value):
            return
        plain = value.kind in (Kind.CXX_BOOL_LITERAL_EXPR, Kind.INIT_LIST_EXPR)
        if canonical(value.type) == "bool" and not plain and not is_literal(value):
            self.add("negation", function, value, f"!bool({self.text_of(value)})")

    # ---- statements ----

    def statements(self, block, function):
        children = list(block.get_children())
        for place, child in enumerate(children):
            self.statement(child, function)
            held = re.match(r"const auto (\w+) = [\w.>-]+\.lock\(\);", self.text_of(child))
            if held and child.kind == Kind.DECL_STMT:
                self.narrowed(held[1], child, children[place + 1:], function)
            if (child.kind == Kind.DECL_STMT and
                    re.match(r"const std::lock_guard lock\(mutex_\);", self.text_of(child))):
                new = ("std::unique_lock lock(mutex_, std::defer_lock); "
                       "if (!(MUTANT)) lock.lock();")
                self.put("lock dropped", function, self.text_of(child), new,
                         [Change(*self.range_of(child), new, "text")])

    def narrowed(self, name, lock, rest, function):
        """The lock is let go before the last statement that uses what it guards."""
        users = [c for c in rest if re.search(rf"\b{name}\b", self.text_of(c))]
        if len(users) < 2:
            return
        begin = users[-1].extent.start.offset
        old = " ".join(self.text_of(lock).split())
        self.put("lock narrowed", function, old, f"{name}.let_go();",
                 [Change(begin, begin, f"if (MUTANT) {name}.let_go();", "insert")])

    def statement(self, cursor, function):
        if not is_deletable(cursor) or not self.is_here(cursor):
            return
        begin, end = self.range_of(cursor)
        close = re.compile(r"\s*;").match(self.text, end)
        if not close:
            return
        call = next((c for c in cursor.walk_preorder() if c.kind == Kind.CALL_EXPR), None)
        if call is not None and call.spelling in NEVER_RETURNS:
            return
        self.put("statement deleted", function, self.text[begin:end], "",
                 [Change(begin, close.end(), "", "statement")])


def is_deletable(cursor):
    return cursor.kind in (
        Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR, Kind.BINARY_OPERATOR, Kind.UNARY_OPERATOR,
        Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.CXX_STATIC_CAST_EXPR, Kind.CXX_DELETE_EXPR,
        Kind.BREAK_STMT, Kind.CONTINUE_STMT)


def is_expression(cursor):
    return cursor.kind.is_expression()


def same_kind_of_bool(cursor):
    return is_expression(cursor) and canonical(cursor.type) == "bool"


def is_condition(parent):
    return parent is not None and parent.kind in (Kind.IF_STMT, Kind.RETURN_STMT)


def is_literal(cursor):
    return all(c.kind in (Kind.UNEXPOSED_EXPR, Kind.CXX_BOOL_LITERAL_EXPR)
               for c in cursor.walk_preorder())


def is_failure(text):
    return re.search(r"\b(Failure|failure|return looked|return waited|return fenced|return released"
                     r"|return forgotten|throw_error|take_back_use)\b", text) is not None


def is_constant(cursor, text):
    """What is computed when it is compiled, or only said."""
    if cursor.kind in (Kind.PARM_DECL, Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TYPEDEF_DECL,
                       Kind.TYPE_ALIAS_DECL, Kind.USING_DECLARATION, Kind.FRIEND_DECL):
        return True
    return cursor.kind == Kind.VAR_DECL and re.search(r"\bconstexpr\b", text) is not None


def declaration_of(cursor):
    return " ".join(token.spelling for token in list(cursor.get_tokens())[:6])


def canonical(kind):
    return kind.get_canonical().spelling.replace("const ", "").rstrip(" &")


def qualified(cursor):
    names = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind not in (Kind.TRANSLATION_UNIT, Kind.NAMESPACE):
        names.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(name.split("<")[0] for name in reversed(names))


def sites_in(path, text):
    """The sites of a file, in order of their place. `path` is from the top, which is the working
    directory."""
    if not cindex.Config.loaded:
        cindex.Config.set_library_file(LIBRARY)
    unit = cindex.Index.create().parse(path, args=FLAGS, unsaved_files=[(path, text)])
    wrong = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if wrong:
        raise SyntaxError(f"{path}: clang says: {wrong[0]}")
    found = Finder(path, text).find(unit)
    return sorted(found, key=lambda s: (s.changes[0].begin, s.changes[0].end, s.operator, s.new))
