"""Reads a page as a browser would, as far as tests ask: elements, their text, what they load."""

from html.parser import HTMLParser
from itertools import pairwise

# Elements that load or run something, and attributes that name what is loaded.
LOADING = {"script", "link", "iframe", "object", "embed", "img", "image", "audio", "video", "base"}
ADDRESSES = {"src", "href", "xlink:href", "srcset", "data", "action", "poster"}
WITHOUT_END = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """The elements of a page: for each its tag, attributes and text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.source, self.elements, self.open = text, [], []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {[e['tag'] for e in self.open]}"

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attributes": dict(attrs), "text": "", "within": list(self.open)}
        self.elements.append(element)
        if tag not in WITHOUT_END:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in WITHOUT_END:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        last = self.open.pop()
        assert last["tag"] == tag, f"<{last['tag']}> ended by </{tag}>"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def text(self, tag):
        return [element["text"] for element in self.all(tag)]

    def cells(self, number=0):
        """The lines of a table, as texts."""
        table = self.all("table")[number]
        rows = [row for row in self.all("tr") if table in row["within"]]
        cells = [e for e in self.elements if e["tag"] in ("th", "td")]
        return [[c["text"] for c in cells if row in c["within"]] for row in rows]


def check_page(text):
    """Check that a page needs nothing else and can be read without seeing it; return it."""
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    assert {element["tag"] for element in page.elements}.isdisjoint(LOADING)
    for element in page.elements:
        assert ADDRESSES.isdisjoint(element["attributes"]), element
        assert not [name for name in element["attributes"] if name.startswith("on")], element
    (style,) = page.text("style")
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert page.all("html")[0]["attributes"]["lang"] == "en"
    (title,) = page.text("title")[:1]
    assert page.text("h1") == [title]
    for picture in page.all("svg"):
        attributes = picture["attributes"]
        is_described = attributes.get("role") == "img" and len(attributes["aria-label"]) > 10
        assert is_described or attributes.get("aria-hidden") == "true", attributes
    for head in page.all("th"):
        assert head["attributes"]["scope"] in ("col", "row")
    levels = [int(e["tag"][1]) for e in page.elements if e["tag"] in ("h1", "h2", "h3")]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    return page
