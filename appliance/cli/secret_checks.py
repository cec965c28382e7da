"""Checks of the keys and certificates in the owner's settings, for `interlude check`."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from appliance.errors import PageError, ShownAs
from appliance.page.certificate import RENEW_S, load_certificate
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.settings import PageSettings, Settings


def secret_findings(settings: Settings) -> Iterator[Finding]:
    """Yield the findings on the model server's key and on the page's certificate."""
    yield from _model_server(settings)
    if settings.page.wanted and settings.page.certificate:
        yield page_finding(settings.page, time.time())


def page_finding(
    page: PageSettings, now_s: float, environment: Mapping[str, str] = os.environ
) -> Finding:
    """Check the page's certificate. `now_s`: seconds since 1970."""
    try:
        certificate = load_certificate(page, environment)
    except PageError as error:
        consequence = "A running page keeps the previous certificate until it restarts."
        shown = ShownAs.of("page-find-certificate-bad")
        return problem("page", f"{error.problem} {consequence}", error.remedy, shown)
    assert certificate is not None
    names = ", ".join(certificate.names) or "no name"
    day = time.strftime("%Y-%m-%d", time.gmtime(certificate.until_s))
    sentence = f"The page is encrypted; its certificate is for {names}, until {day}."
    if certificate.until_s - now_s < RENEW_S:
        remedy = "Have a new one issued; the page uses it as soon as it is written."
        return warning("page", sentence, remedy, ShownAs.of("page-find-certificate-ends", day=day))
    return ok("page", sentence, ShownAs.of("page-find-certificate", names=names, day=day))


def _model_server(settings: Settings) -> Iterator[Finding]:
    if settings.thinking.remote.has_secret:
        yield warning(
            "secrets",
            "`thinking.remote.url` contains a login or a key.",
            "Write a key into a file of mode 0600 and name it in `thinking.remote.key_file`.",
            ShownAs.of("page-find-secret-in-address"),
        )
    key_file = settings.thinking.remote.key_file
    if not (settings.thinking.remote.url and key_file):
        return
    path = Path(key_file).expanduser()
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        yield problem(
            "secrets",
            f"The key file {path} cannot be found ({error.strerror}).",
            "Write the server's key into it, or empty `thinking.remote.key_file`.",
            ShownAs.of("page-find-secret-gone"),
        )
        return
    if mode & 0o077:
        sentence = f"Others may read the key in {path} (mode {mode:04o})."
        shown = ShownAs.of("page-find-secret-open")
        yield problem("secrets", sentence, f"chmod 600 {path}", shown)
    else:
        yield ok("secrets", f"Only its owner may read {path}.", ShownAs.of("page-find-secret"))
