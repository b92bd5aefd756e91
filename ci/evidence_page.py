"""Draws the page of evidence. Each figure on it is a link to the file it stands in, and names its
place there in `data-from`, which check() follows back."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from evidence_sources import RESULTS, Value, resolve

MOST_ROWS = 300
HEAD = {"command", "revision", "processors", "seconds"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #1c2329; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #d5dbe0; }
table { border-collapse: collapse; font-size: 13px; margin: .5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem; }
th { position: sticky; top: 0; background: #eef2f5; }
td { border-top: 1px solid #e3e8ec; } td.n { text-align: right; white-space: nowrap; }
a.n { color: inherit; text-decoration: none; border-bottom: 1px dotted #8896a3; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; }
.tile { background: #eef2f5; border-radius: 6px; padding: .6rem 1rem; min-width: 9rem; }
.tile b { display: block; font-size: 1.5rem; } .missing { color: #a3321f; }
.bar { background: #1f6f8b; height: .8rem; display: inline-block; }
.dim { color: #66727d; } code { font-size: 12px; }
"""


def figure(value):
    """A figure that leads back to its file."""
    shown = value.value
    if isinstance(shown, bool):
        shown = "yes" if shown else "no"
    elif isinstance(shown, int):
        shown = f"{shown:,}"
    elif isinstance(shown, float):
        shown = f"{shown:,.4g}" if abs(shown) < 1000 else f"{shown:,.0f}"
    place = html.escape(f"{value.file}#{value.pointer}", quote=True)
    return (f'<a class="n" href="{html.escape(value.file)}" data-from="{place}" '
            f'title="{place}">{html.escape(str(shown))}</a>')


def is_figure(value):
    return value is not None and not isinstance(value.value, (dict, list, type(None)))


def words(name):
    return html.escape(str(name).replace("_", " "))


def cell(value):
    if value is None or value.value is None:
        return "<td></td>"
    if isinstance(value.value, list):
        return f"<td>{', '.join(inline(each) for _, each in value.items())}</td>"
    if isinstance(value.value, dict):
        pairs = "; ".join(f"{words(key)} {inline(each)}" for key, each in value.items())
        return f"<td>{pairs}</td>"
    side = "" if isinstance(value.value, str) else ' class="n"'
    return f"<td{side}>{figure(value)}</td>"


def inline(value):
    return figure(value) if is_figure(value) else html.escape(json.dumps(value.value))


def table_of(caption, rows):
    """A list of objects as a table, its columns in the order in which the rows bring them."""
    columns = list(dict.fromkeys(key for _, row in rows.items() for key in row.value))
    head = "".join(f"<th>{words(column)}</th>" for column in columns)
    lines = [f"<h3>{words(caption)}</h3><table><tr>{head}</tr>"]
    for _, row in rows.items()[:MOST_ROWS]:
        lines.append("<tr>" + "".join(cell(row.get(column)) for column in columns) + "</tr>")
    lines.append("</table>")
    if len(rows.value) > MOST_ROWS:
        lines.append(f'<p class="dim">And more: <a href="{html.escape(rows.file)}">all</a>.</p>')
    return "\n".join(lines)


def bars(caption, figures):
    """A mapping of names to numbers as bars, the longest full."""
    pairs = [(key, value) for key, value in figures.items()
             if isinstance(value.value, (int, float)) and not isinstance(value.value, bool)]
    most = max((value.value for _, value in pairs), default=0) or 1
    lines = [f"<h3>{words(caption)}</h3><table>"]
    for key, value in pairs:
        style = f"width:{max(0, round(30 * value.value / most, 2))}rem"
        lines.append(f'<tr><td>{words(key)}</td><td class="n">{figure(value)}</td>'
                     f'<td><span class="bar" style="{style}"></span></td></tr>')
    lines.append("</table>")
    return "\n".join(lines)


def parts_of(result):
    """All of a result: its figures first, then mappings as bars and lists as tables."""
    plain = [(key, value) for key, value in result.items()
             if key not in HEAD and is_figure(value)]
    if plain:
        yield "<table>" + "".join(f"<tr><td>{words(key)}</td>{cell(value)}</tr>"
                                  for key, value in plain) + "</table>"
    for key, value in result.items():
        if isinstance(value.value, dict) and value.value:
            if all(isinstance(each, (int, float)) for each in value.value.values()):
                yield bars(key, value)
            else:
                yield f"<h3>{words(key)}</h3><table>" + "".join(
                    f"<tr><td>{words(name)}</td>{cell(each)}</tr>"
                    for name, each in value.items()) + "</table>"
        elif isinstance(value.value, list) and value.value:
            if all(isinstance(each, dict) for each in value.value):
                yield table_of(key, value)
            else:
                yield (f"<p>{words(key)}: "
                       + ", ".join(inline(each) for _, each in value.items()) + "</p>")


def section(name, result):
    command, title = RESULTS[name].command, RESULTS[name].title
    yield f'<h2 id="{name}">{html.escape(title)}</h2>'
    if result is None:
        yield f'<p class="missing">Not run: <code>{html.escape(command)}</code></p>'
        return
    head = "".join(f" {words(key)} {figure(result.at(key))}."
                   for key in ("revision", "processors", "seconds") if key in result.value)
    yield f"<p><code>{figure(result.at('command'))}</code>:{head}</p>"
    yield from parts_of(result)


def evaluations_of(results, promise):
    """How often each engine that counts looked at the promise."""
    for name, result in results.items():
        all_runs = result and (result.get("all_campaigns") or result)
        counts = all_runs and all_runs.get("evaluations")
        if counts is not None and (count := counts.get(promise.id)) is not None:
            yield f"{html.escape(RESULTS[name].command)} {figure(count)}"


def scopes_of(results, promise):
    """The exhaustive scopes in which the promise was looked at."""
    scopes = results["exhaust"] and results["exhaust"].get("scopes")
    for _, scope in scopes.items() if scopes else ():
        counts = scope.get("evaluations")
        count = counts and counts.get(promise.id)
        if count is not None and count.value:
            yield f"{figure(scope.at('scope'))} {figure(count)}"


def kills_of(results, promise):
    """The mutants that the promise's check killed, by engine."""
    kills = results["mutate"] and results["mutate"].get("killed_by_invariant")
    found = kills and kills.get(promise.id)
    for engine, count in found.items() if found else ():
        yield f"{words(engine)} {figure(count)}"


def promise_rows(promises, results):
    yield ("<table><tr><th>id</th><th>promise</th><th>predicate</th><th>checked in</th>"
           "<th>saboteurs</th><th>mutants killed</th><th>evaluated</th><th>scopes</th></tr>")
    for each in promises:
        found = [list(find(results, each)) for find in (kills_of, evaluations_of, scopes_of)]
        tail = "".join(f"<td>{'<br>'.join(items) or '<span class=missing>none</span>'}</td>"
                       for items in found)
        saboteurs = "<br>".join(html.escape(name) for name in each.saboteurs)
        yield (f'<tr data-quote="tree"><td id="{each.id}">{each.id}</td>'
               f"<td>{html.escape(each.words)}</td>"
               f"<td>{html.escape(each.predicate)}</td><td>{html.escape(each.checked_in)}</td>"
               f"<td>{saboteurs}</td>{tail}</tr>")
    yield "</table>"


def missing_words(results, promises):
    for name, result in results.items():
        if result is None:
            command = html.escape(RESULTS[name].command)
            yield f"Not run, so nothing is said of it: <code>{command}</code>"
    bare = [each.id for each in promises if not list(kills_of(results, each))]
    if results["mutate"] and bare:
        yield ("No mutant was killed first by: "
               + f'<span data-quote="tree">{", ".join(bare)}</span>')


def page(promises, results, limits):
    tiles = []
    for name, result in results.items():
        for label, pointer in RESULTS[name].headline.items() if result else ():
            value = result.follow(pointer)
            if is_figure(value):
                tiles.append(f'<div class="tile"><b>{figure(value)}</b>{words(label)}</div>')
    lines = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Cairn: the evidence</title>",
             f"<style>{STYLE}</style><h1>Cairn: the evidence</h1>",
             "<p>What is promised, how it is checked, and what the checks found. Each figure is a "
             "link to the file that it was read from; the commands that made these files are named "
             "beside them.</p>", f'<div class="tiles">{"".join(tiles)}</div>',
             "<h2>The promises</h2>", *promise_rows(promises, results)]
    for name, result in results.items():
        lines += section(name, result)
    lines += ["<h2>What is not verified</h2><ul>"]
    lines += [f"<li>{item}</li>" for item in missing_words(results, promises)]
    lines += [f'<li data-quote="tree">{html.escape(item)}</li>' for item in limits]
    lines += ["</ul></html>"]
    return "\n".join(lines) + "\n"


class Figures(HTMLParser):
    """The figures of a page with their places, and the digits that have none."""

    def __init__(self):
        super().__init__()
        self.open, self.found, self.strays = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("meta", "br"):
            return
        given = dict(attrs)
        self.open.append((tag, given))
        if "data-from" in given:
            self.found.append([given["data-from"], ""])

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if any("data-from" in given for _, given in self.open):
            self.found[-1][1] += data
        elif not any(tag in ("style", "h1", "h2", "h3", "th", "title", "code") or
                     "data-quote" in given for tag, given in self.open):
            # Names of rows and keys may have digits within words; a number stands alone.
            self.strays += re.findall(r"(?<![\w.-])\d[\d,.]*(?![\w-])", data)


def check(text, folder):
    """What is wrong with a page: figures other than in their file, and numbers from nowhere."""
    parser = Figures()
    parser.feed(text)
    documents = {}
    for place, shown in parser.found:
        file, pointer = place.split("#", 1)
        try:
            if file not in documents:
                documents[file] = json.loads((Path(folder) / file).read_text(encoding="utf-8"))
            value = resolve(documents[file], pointer)
        except (OSError, LookupError, ValueError, TypeError) as why:
            yield f"{place}: leads nowhere: {why}"
            continue
        expected = re.sub("<[^>]*>", "", figure(Value(file, pointer, value)))
        if html.unescape(expected) != shown:
            yield f"{place}: the page says {shown}, the file {html.unescape(expected)}"
    for stray in parser.strays:
        yield f"a number without a file: {stray}"
    if not parser.found:
        yield "no figure on it"
