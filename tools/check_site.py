"""Check that links within the built site have targets and that pages load nothing from the net.

python tools/check_site.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

# Elements whose address is loaded with the page.
LOADED = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}


class Page(HTMLParser):
    """The links of a page, and the targets within it."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.places = {""}
        self.links = []
        self.loaded = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update(found[name] for name in ("id", "name") if found.get(name))
        address = found.get("href") or found.get("src")
        if address is not None:
            (self.loaded if tag in LOADED else self.links).append(address)


def problems(root):
    """Yield the problems of the pages in a folder."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    if not pages:
        yield f"{root} has no pages"
    for page in pages.values():
        name = page.path.relative_to(root)
        for address in page.loaded:
            if address.startswith(("http:", "https:", "//")):
                yield f"{name} loads {address}"
        for address in page.links + page.loaded:
            if ":" in address.partition("/")[0] or address.startswith("//"):
                continue
            file, place = urldefrag(address)
            # A question mark is followed by the version of a style sheet or script.
            target = (page.path.parent / unquote(file.partition("?")[0])).resolve()
            target = target if file else page.path
            if not target.exists():
                yield f"{name}: no file for {address}"
            elif target in pages and unquote(place) not in pages[target].places:
                yield f"{name}: no place for {address}"
    for style in sorted(root.rglob("*.css")):
        text = style.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            yield f"{style.relative_to(root)} loads something from elsewhere"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found))
    sys.exit(bool(found))
