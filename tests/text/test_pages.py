"""Links on the pages of HTTP servers."""

from hlo_lsp.text.pages import urls_below

FOLDER = "http://host/dumps/"


def urls(page: str) -> list[str]:
    return [url.removeprefix(FOLDER) for url in urls_below(page.encode(), FOLDER)]


def test_links_are_relative_or_absolute() -> None:
    page = (
        '<a href="a.txt">a</a><A class="x"\n HREF=\'b&amp;b.txt\'>b</A><a href="/dumps/c/">c</a>'
        '<a href="https://host/dumps/d.txt">d</a> http://host/dumps/e.txt <a href="./f.txt">'
    )
    found = ["a.txt", "b&b.txt", "c/", "https://host/dumps/d.txt", "e.txt", "f.txt"]
    assert urls(page) == found


def test_links_to_other_places_are_left_out() -> None:
    links = ("../", "/", "./", "?C=N;O=D", "#top", "a.txt?x=1", "//evil/a.txt", "javascript:a()")
    other = ("http://evil/dumps/a.txt", "/dumps", "mailto:a@host", "../other/a.txt")
    assert urls("".join(f'<a href="{link}">' for link in (*links, *other))) == []


def test_work_grows_with_the_page_only() -> None:
    for text in (" ", " x", "<a ", " href=", "<a href=", 'href="', "http://"):
        assert urls(f"<a{text * 300_000}>") == []
