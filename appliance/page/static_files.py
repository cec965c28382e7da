"""Static files of the page: style sheet, scripts, icon. They contain no data of the box, so any
client may fetch them; browsers revalidate them by their ETag."""

from __future__ import annotations

import hashlib
from pathlib import Path

from appliance.page.requests import TEXT, Reply, Request, plain

FOLDER = Path(__file__).with_name("static")
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFiles:
    """The files of the folder, read once at the start."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            f"/static/{file.name}": (file.read_bytes(), KINDS[file.suffix])
            for file in sorted(folder.iterdir())
            if file.suffix in KINDS
        }

    @property
    def size_bytes(self) -> int:
        return sum(len(data) for data, _ in self._files.values())

    def reply(self, request: Request) -> Reply:
        found = self._files.get(request.path)
        if found is None or request.method not in ("GET", "HEAD"):
            return plain(404, "There is no such file.")
        data, kind = found
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        headers = (("ETag", tag), ("Cache-Control", "no-cache"))
        if request.headers.get("if-none-match") == tag:
            return Reply(304, b"", TEXT, headers)
        return Reply(200, data, kind, headers)
