"""Servers of dumps on localhost: HTTP with faults, and the S3 API."""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class HttpFolder:
    """The files that a server has by path, such as ``/dumps/a.txt``, and what it was asked.

    ``faults`` are by path: a status, ``truncated``, or ``silent``. ``requests`` are methods and
    paths. Without ``lists``, the server has no pages for folders, without ``versions``, no headers
    from which a change can be seen, and without ``heads``, it answers no HEAD request.
    ``endless`` is a folder in which each folder has others.
    """

    files: dict[str, bytes]
    url: str = ""
    faults: dict[str, int | str] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    lists: bool = True
    versions: bool = True
    heads: bool = True
    endless: str | None = None
    end: Event = field(default_factory=Event)

    def reads(self) -> list[str]:
        """Return the paths of files that were read, and forget all requests."""
        found = [path for method, path in self.requests if method == "GET" and path in self.files]
        self.requests.clear()
        return sorted(found)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folder: HttpFolder, *arguments: object) -> None:
        self._folder = folder
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _answer(self) -> None:
        folder = self._folder
        folder.requests.append((self.command, self.path))
        fault = folder.faults.get(self.path) if self.command == "GET" else None
        data = folder.files.get(self.path)
        kind = "text/plain"
        names = {
            name[len(self.path) :].partition("/")
            for name in folder.files
            if folder.lists and self.path.endswith("/") and name.startswith(self.path)
        }
        if data is None and names:
            links = ["?C=N;O=D", "../", *sorted(name + slash for name, slash, _ in names)]
            data = "".join(f'<a href="{link}">{link}</a>\n' for link in links).encode()
            kind = "text/html"
        if folder.endless and self.path.startswith(folder.endless) and self.path.endswith("/"):
            data = b"".join(b'<a href="%d/">x</a>' % number for number in range(50))
            kind = "text/html"
        if self.command == "HEAD" and not folder.heads:
            fault = "silent"
        if fault == "silent":
            folder.end.wait()
        if isinstance(fault, int) or data is None:
            self.send_response(fault if isinstance(fault, int) else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if folder.versions:
            self.send_header("ETag", hashlib.sha256(data).hexdigest())
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[: len(data) // 2] if fault == "truncated" else data)
        self.close_connection = fault == "truncated"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Print nothing when a client gives up."""


@contextmanager
def http_folder(files: dict[str, bytes]) -> Iterator[HttpFolder]:
    """Serve files until the end of the block."""
    folder = HttpFolder(files)
    server = _Server(("127.0.0.1", 0), partial(_Handler, folder))
    folder.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield folder
    finally:
        folder.end.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def s3_server() -> Iterator[str]:
    """Run a server of the S3 API until the end of the block, and return its URL."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it logs each request
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
