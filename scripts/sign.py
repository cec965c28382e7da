"""`make sign KEY=…`: signs what a build left in dist/, with a key that the build has never seen.

In: archives (.release, .system, .voice) and sheets of checksums (.sha256) from `make release`,
`make voices` or `make image`, and a private ssh key, or the public half of one that lies in an
agent or on a token. Out: the same files, signed. A signature by another key stays in an archive, in
front of the new one; a sheet has the signature of the last key.

A sheet lists the files of a card. They are compared with it before anything is signed, so that only
what the build wrote is signed. Runs with Python's standard library and ssh-keygen alone: no package
of anybody else's is loaded beside the key.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.archive_parts import sign_archive

ARCHIVES = (".release", ".system", ".voice")
SHEET = ".sha256"


def sign(paths: list[Path], key: Path) -> list[Path]:
    """Sign the files `paths`, and those of the folders among them. Returns what was signed.

    Raises ReleaseRefused, also for a file that differs from its row in a sheet, before anything is
    signed; OSError, tarfile.TarError.
    """
    files = [file for path in paths for file in _files(path)]
    sheets = {file: _rows(file) for file in files if file.name.endswith(SHEET)}
    for sheet, rows in sheets.items():
        for name, digest in rows.items():
            if digest != sha256_of(sheet.with_name(name)):
                raise ReleaseRefused(f"{name} is not the file that {sheet.name} lists.")
    listed = [sheet.with_name(name) for sheet, rows in sheets.items() for name in rows]
    archives = [file for file in dict.fromkeys([*files, *listed]) if file.name.endswith(ARCHIVES)]
    if not archives and not sheets:
        raise ReleaseRefused("There is nothing to sign.", "`make release` builds something.")
    for archive in archives:
        sign_archive(archive, key)
    for sheet, rows in sheets.items():
        text = "".join(f"{sha256_of(sheet.with_name(name))}  {name}\n" for name in rows)
        signed = signature.sign(text.encode(), key)
        sheet.write_text(text)
        sheet.with_name(f"{sheet.name}.sig").write_bytes(signed)
    return [*archives, *sheets]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files(path: Path) -> Iterator[Path]:
    """The file `path`, or the archives and sheets in the folder `path`."""
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.iterdir()):
        if file.name.endswith((*ARCHIVES, SHEET)):
            yield file


def _rows(sheet: Path) -> dict[str, str]:
    """The digests that a sheet lists, by the names of files in its folder.

    Raises ReleaseRefused."""
    rows = [row.partition("  ") for row in sheet.read_text(encoding="utf-8").splitlines()]
    if any("/" in name or not name for _, _, name in rows):
        raise ReleaseRefused(f"{sheet.name} is no sheet of checksums.")
    return {name: digest for digest, _, name in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description="Sign what a build left.")
    parser.add_argument("--key", type=Path, required=True, help="a private ssh key, or the public "
                        "half of one in an agent or on a token")  # fmt: skip
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="or a folder of them")
    args = parser.parse_args()
    if not args.key.is_file():
        print(f"Nothing is signed: {args.key} is no ssh key."
              " ssh-keygen -t ed25519 -f ~/.ssh/interlude-release makes one.",
              file=sys.stderr)  # fmt: skip
        return 1
    try:
        for path in sign(args.files, args.key):
            print(f"signed {path}")
    except (ReleaseRefused, OSError, tarfile.TarError) as error:
        print(f"Not everything is signed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
