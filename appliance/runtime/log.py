"""Sets up logging: lines `part: what changed`, with a priority prefix where journald reads them.

A line is written when a state changes. Audio processes never log between the card and the ring.
"""

from __future__ import annotations

import logging
import os
import sys

_PRIORITY = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3}  # syslog(3)


class _Line(logging.Formatter):
    def __init__(self, journal: bool) -> None:
        super().__init__(
            "%(name)s: %(message)s" if journal else "%(asctime)s %(name)s: %(message)s"
        )
        self._journal = journal
        self.default_time_format = "%H:%M:%S"
        self.default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        return f"<{_PRIORITY.get(record.levelno, 5)}>{line}" if self._journal else line


def set_up_logging(level: str) -> None:
    """Log to standard error from `level` ("debug", "info", "warning", "error") up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line(journal="JOURNAL_STREAM" in os.environ))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in ("httpx", "httpcore", "huggingface_hub", "urllib3", "filelock"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
