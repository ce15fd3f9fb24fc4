"""Self-contained HTML pages of reports, without scripts, fonts or images from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape

from pkex.results.files import write_whole
from pkex.results.palette import BLUE, ORANGE, SKY_BLUE, VERMILION, channels
from pkex.results.report import Figure, PageContent, ReportTable


def write_page(content: PageContent, path: str | os.PathLike[str] | None) -> str:
    """Return the HTML of a report, and write it if a path is given."""
    text = page(content)
    if path is not None:
        write_whole(path, text)
    return text


def page(content: PageContent) -> str:
    """Return the HTML of a report, with all texts escaped."""
    title = escape(content.title)
    parts = [
        f"<header><h1>{title}</h1>",
        f'<p class="conclusion">{_unbroken(content.conclusion)}</p></header>',
        _section("Warnings and notes", _list(content.notes)),
        _section(
            "The text" if len(content.documents) == 1 else "The texts",
            _figures(content.documents, "documents"),
        ),
        _section("At a glance", _figures(content.overview)),
        _section("In numbers", "".join(map(_table, content.tables))),
        _section(content.details_title, _figures(content.details, "grid")),
        _section("How to read it", "".join(f"<p>{escape(text)}</p>" for text in content.reading)),
        _section("What was computed", _facts(content.settings.items())),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{chr(10).join(part for part in parts if part)}\n</main>\n</body>\n</html>\n"
    )


def _unbroken(text: str) -> str:
    """Return an escaped text with non-breaking spaces before percent signs."""
    return escape(text).replace(" %", "&nbsp;%")


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>" if content else ""


def _list(texts: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return f"<dl>{items}</dl>" if items else ""


def _figures(figures: Sequence[Figure], kind: str = "single") -> str:
    items = "".join(map(_figure, figures))
    return f'<div class="{kind}">{items}</div>' if items else ""


def _figure(figure: Figure) -> str:
    keys = "".join(
        f'<li><svg class="key" width="26" height="14" aria-hidden="true">{_key(kind)}</svg>'
        f"{escape(text)}</li>"
        for kind, text in figure.legend
    )
    legend = f'<ul class="legend">{keys}</ul>' if keys else ""
    words = escape(figure.caption) + legend
    caption = f"<figcaption>{words}</figcaption>" if words else ""
    return f"<div><h3>{escape(figure.title)}</h3><figure>{figure.picture}{caption}</figure></div>"


def _key(kind: str) -> str:
    """Return the SVG of a mark of the legend, given its class."""
    if kind.startswith("mark"):
        return f'<circle class="{kind}" cx="13" cy="7" r="5"/>'
    if kind == "error":
        return '<line class="error" x1="2" x2="24" y1="7" y2="7"/>'
    return f'<rect class="{kind}" x="1" y="2" width="24" height="10"/>'


def _table(table: ReportTable) -> str:
    columns = table.cells()
    head = "".join(f'<th scope="col">{escape(column[0])}</th>' for column in columns)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in others)}</tr>"
        for first, *others in zip(*(column[1:] for column in columns), strict=True)
    )
    # Wide tables scroll, also by keys; shadows mark the ends that are hidden.
    caption = escape(table.caption)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(table.caption, True)}">'
        f"<table><caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


_COLORS = f"""
:root {{ --one: {BLUE}; --two: {VERMILION}; --accent: {BLUE}; --strongest: .6;
  --lowers: {channels(BLUE)}; --raises: {channels(VERMILION)}; }}
@media (prefers-color-scheme: dark) {{ :root {{ --one: {SKY_BLUE}; --two: {ORANGE};
  --accent: {SKY_BLUE}; --strongest: .45;
  --lowers: {channels(SKY_BLUE)}; --raises: {channels(ORANGE)}; }} }}"""

_STYLE = (
    _COLORS
    + """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #57606a;
  --line: #d0d7de; --panel: #f6f8fa; --band: #c9ced4; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e6e9ed; --soft: #a3adb8;
  --line: #3a424b; --panel: #1d2228; --band: #49525c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
p { margin: 0 0 .75rem; max-width: 44rem; }
.conclusion { font-size: 1.1rem; padding: .9rem 1.1rem; margin: 0; max-width: none;
  background: var(--panel); border-left: 4px solid var(--accent); overflow-wrap: anywhere; }
.notes { margin: 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
figure { margin: 0; min-width: 0; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .5rem; overflow-wrap: anywhere; }
.single { display: grid; gap: 2rem; grid-template-columns: minmax(0, 46rem); }
.grid > div, .single > div { min-width: 0; }
.grid { display: grid; gap: 2rem 2.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
.legend { list-style: none; margin: .3rem 0 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .2rem 1.1rem; }
.legend li { display: flex; align-items: center; gap: .4rem; min-width: 0; }
.key { flex: none; }
.picture { display: block; overflow: visible; }
.picture text { fill: var(--ink); font-size: 13px; }
.value { fill: var(--one); fill-opacity: .75; } .band { fill: var(--band); }
.error { stroke: var(--ink); stroke-width: 1.5; } .axis { stroke: var(--soft); stroke-width: 1; }
.mark { fill: var(--paper); stroke: var(--two); stroke-width: 2; } .filled { fill: var(--two); }
.median { stroke: var(--two); stroke-width: 3; }
.first { fill: var(--one); } .second { fill: var(--two); }
.above { fill: var(--two); } .below { fill: var(--one); }
.area { fill: var(--one); fill-opacity: .75; }
.line { fill: none; stroke: var(--two); stroke-width: 2; vector-effect: non-scaling-stroke; }
.point { fill: var(--one); fill-opacity: .7; }
.class0 { fill: var(--one); } .class1 { fill: var(--two); } .class2 { fill: var(--soft); }
.class3 { fill: var(--band); } .class4 { fill: var(--paper); }
[class^=class] { stroke: var(--soft); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.9; margin: 0;
  max-width: none; }
.raises, .lowers { border-radius: 2px; padding: .1em 0; }
.raises { background: rgb(var(--raises) / calc(var(--strongest) * var(--share)));
  border-bottom: 2px solid rgb(var(--raises) / calc(.2 + .8 * var(--share))); }
.lowers { background: rgb(var(--lowers) / calc(var(--strongest) * var(--share)));
  border-bottom: 2px dotted rgb(var(--lowers) / calc(.2 + .8 * var(--share))); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.documents > div + div { margin-top: 2.5rem; }
.wide { overflow-x: auto; background: linear-gradient(to right, var(--paper) 60%, transparent) left,
  linear-gradient(to left, var(--paper) 60%, transparent) right,
  linear-gradient(to right, var(--line), transparent) left,
  linear-gradient(to left, var(--line), transparent) right; background-repeat: no-repeat;
  background-size: 2.5rem 100%, 2.5rem 100%, 1rem 100%, 1rem 100%;
  background-attachment: local, local, scroll, scroll; }
.wide + .wide { margin-top: 1.75rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
caption span { display: block; max-width: calc(100vw - 2rem); }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; min-width: 4.2rem; }
th:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 6rem; max-width: 16rem; }
dl { margin: 0; display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr);
  gap: .35rem 1.25rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 36rem) { main { padding: 1.25rem 1rem 3rem; } dl { display: block; }
  dd { margin: 0 0 .6rem; } h1 { font-size: 1.35rem; } }
@media print { main { max-width: none; } section { break-inside: avoid-page; }
  .documents > div + div { break-before: page; } .raises, .lowers { print-color-adjust: exact; } }
"""
)
