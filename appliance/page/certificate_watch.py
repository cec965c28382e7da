"""Watches the certificate's files while the page runs; loads a new certificate if it is valid.

In: the two files, the time. Out: the certificate to serve, and notices for the owner.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

from appliance.errors import PageError
from appliance.page.certificate import RENEW_S, PageCertificate, load_certificate, stamp
from appliance.page.refusals import refusal
from appliance.page.texts import Texts
from appliance.settings import PageSettings

AGAIN_S = 60.0  # between two checks of an unusable file, since the clock may have been wrong

log = logging.getLogger("page")


@dataclass
class CertificateWatch:
    """`served`: the certificate in use until a new one is valid. `refused`: why the present file is
    not used."""

    page: PageSettings
    served: PageCertificate
    seen: tuple[tuple[int, int], ...]
    looked_s: float
    refused: PageError | None = None
    told: str = ""  # the last warning in the log: "", "soon" or "over"

    def look(
        self, now_s: float, wall_s: float, environment: Mapping[str, str] = os.environ
    ) -> PageCertificate | None:
        """Check the files. Returns a new certificate to serve, or None to keep the present one.
        `now_s`: CLOCK_MONOTONIC; `wall_s`: since 1970."""
        self._log_expiry(wall_s)
        found = stamp(self.page, environment)
        retry = self.refused is not None and now_s >= self.looked_s + AGAIN_S
        if found == self.seen and not retry:
            return None
        changed, self.seen, self.looked_s = found != self.seen, found, now_s
        try:
            certificate = load_certificate(self.page, environment)
        except PageError as error:
            if changed:
                log.error("the page goes on with the certificate before: %s", error)
            self.refused = error
            return None
        if certificate is None:
            return None
        log.info("the page has a new certificate, which expires on %s", _day(certificate.until_s))
        self.served, self.refused, self.told = certificate, None, ""
        return certificate

    def notices(self, texts: Texts, wall_s: float) -> list[str]:
        """Sentences for paired browsers about a rejected file and the expiry."""
        sentences = []
        if self.refused is not None:
            sentences.append(texts("page-certificate-refused", why=refusal(self.refused, texts)))
        expiry = _expiry(self.served, wall_s)
        if expiry:
            sentences.append(texts(f"page-certificate-{expiry}", day=_day(self.served.until_s)))
        return sentences

    def _log_expiry(self, wall_s: float) -> None:
        expiry = _expiry(self.served, wall_s)
        if expiry and expiry != self.told:
            log.warning("the page's certificate expires on %s", _day(self.served.until_s))
        self.told = expiry


def watch(
    page: PageSettings, now_s: float, environment: Mapping[str, str] = os.environ
) -> CertificateWatch | None:
    """Load the present files and watch them; None without a certificate. Raises PageError."""
    seen = stamp(page, environment)
    certificate = load_certificate(page, environment)
    return CertificateWatch(page, certificate, seen, now_s) if certificate else None


def _expiry(certificate: PageCertificate, wall_s: float) -> str:
    left_s = certificate.until_s - wall_s
    return "over" if left_s <= 0 else "soon" if left_s < RENEW_S else ""


def _day(since_1970_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(since_1970_s))
