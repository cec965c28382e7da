"""Backup and restore: download an archive without secrets, upload one, and review it first.

The page checks an uploaded archive and prepares it. The restore itself happens at the next start,
before any other process runs (cli/restore.py), and can be undone.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass

from appliance import __version__
from appliance.atomic_file import read_small, sync_folder
from appliance.background_file import write_private
from appliance.errors import BackupRefused, InterludeError, ShownAs, StorageError
from appliance.messages.commands import Restart
from appliance.page import on_settings
from appliance.page.access import is_form_token
from appliance.page.backup_file import (
    LIMITS,
    MOST_BYTES,
    Backup,
    BackupTimer,
    BackupTurn,
    pack,
    unpack,
)
from appliance.page.on_models import can_answer
from appliance.page.refusals import refusal, told
from appliance.page.requests import Reply, plain, see_other
from appliance.page.upload import Upload, boundary_of
from appliance.page.visit import COOKIE, BackupTicket, PageBox, Visit
from appliance.record_file import UNREADABLE
from appliance.runtime import handed_request, memory_files, restore_files
from appliance.runtime.memory_reader import read_turns
from appliance.runtime.restore_files import BACK, CHECKED, UPLOAD, WANTED, place
from appliance.runtime.secure_erase import erase
from appliance.settings import Settings, adjusted, load_defaults
from appliance.settings.owner_settings import fingerprint
from appliance.settings.section import Scalar
from appliance.settings.settings_change import CHANGEABLE, MODEL, SettingsChange, value_of
from appliance.tools import timer_store

PLACE, UPLOAD_PLACE = "/own/backup", "/own/backup/upload"
MOST_TURNS = 10_000
TICKET_S = 600.0  # lifetime; a phone may pass the link to another program, which fetches it later
KIND = "application/zip"


@dataclass(frozen=True)
class RestorePreview:
    """What a restore would change. `settings`: key, present value and new value. `model`: the
    backup's language model if it is not on this box and is therefore left out; else ""."""

    backup: Backup
    turns: int
    timers: int
    settings: tuple[tuple[str, Scalar, Scalar], ...]
    model: str


def show(visit: Visit, status: int = 200, problem: str = "", ready: Backup | None = None) -> Reply:
    """Show the forms to make and upload a backup and to undo the last restore. `ready`: a backup
    that is ready to download."""
    box, state, preview = visit.box, visit.box.settings.state_path(), None
    checked = restore_files.archive(state, CHECKED)
    if checked.exists():
        try:
            preview = _preview(box, unpack(read_small(checked, MOST_BYTES)))
        except InterludeError as error:
            problem = problem or refusal(error, visit.texts)
        except OSError as error:
            problem = problem or _write_error(visit, error)
    outcome = restore_files.outcome(state)
    outcome_why = told(outcome.key, outcome.values, outcome.problem, visit.texts) if outcome else ""
    return visit.page(
        "backup",
        status,
        problem=problem,
        ready=ready,
        ticket=box.backup_ticket.word if ready and box.backup_ticket else "",
        file=_file_name(),
        outcome=outcome,
        outcome_why=outcome_why,
        when=time.strftime("%Y-%m-%d %H:%M", time.localtime(outcome.at_s)) if outcome else "",
        anew=outcome is not None and on_settings.needs_new_start(_files(box), box.files),
        preview=preview,
        made=time.strftime("%Y-%m-%d %H:%M", time.localtime(preview.backup.made_s))
        if preview
        else "",
        awaited=restore_files.archive(state, WANTED).exists() or (state / BACK).exists(),
        replaced=restore_files.replaced(state),
        keeps=box.settings.memory.keep_turns,
    )


def make(visit: Visit) -> Reply:
    """Make a backup and show its content with a link to download it."""
    box = visit.box
    try:
        backup = _collected(box)
    except StorageError as error:
        return show(visit, 503, refusal(error, visit.texts))
    assert visit.browser is not None  # forms of unpaired browsers are rejected earlier
    token = secrets.token_hex(16)
    box.backup_ticket = BackupTicket(token, visit.browser.id, box.now_s() + TICKET_S)
    return show(visit, ready=backup)


def download(visit: Visit) -> Reply:
    """Send the archive to the browser that made it; other browsers are redirected to the page."""
    box, ticket = visit.box, visit.box.backup_ticket
    token = visit.request.words.get("ticket", "")
    allowed = (
        visit.browser is not None and ticket is not None and ticket.browser == visit.browser.id
    )
    if ticket is None or not allowed or box.now_s() > ticket.until_s:
        return see_other(PLACE)
    if not hmac.compare_digest(token.encode(), ticket.word.encode()):
        return see_other(PLACE)
    try:
        data = pack(_collected(box))
    except StorageError as error:
        return show(visit, 503, refusal(error, visit.texts))
    headers = (("Content-Disposition", f'attachment; filename="{_file_name()}"'),)
    return Reply(200, data, KIND, headers)


def _file_name() -> str:
    return time.strftime("interlude-%Y-%m-%d.zip")


def _write_error(visit: Visit, error: OSError) -> str:
    return visit.texts("page-wrong-look-write", why=error.strerror or "")


def receive(visit: Visit) -> Upload | None:
    """Start an upload of a paired browser. None: it is handled as an ordinary form."""
    boundary = boundary_of(visit.request.headers.get("content-type", ""))
    box, state = visit.box, visit.box.settings.state_path()
    if not boundary or box.uploading:
        return None

    def ended() -> None:
        box.uploading = False

    try:
        upload = Upload(
            restore_files.archive(state, UPLOAD), boundary, MOST_BYTES,
            lambda fields: _uploaded(visit, fields), ended,
        )  # fmt: skip
    except OSError:
        return None
    box.uploading = True
    return upload


def no_upload(visit: Visit) -> Reply:
    """Reject an upload that was sent as an ordinary form."""
    return show(visit, 400, visit.texts("page-backup-none"))


def apply(visit: Visit) -> Reply:
    """Carry out the reviewed restore: the settings now, the rest at the restart."""
    box, state = visit.box, visit.box.settings.state_path()
    checked = restore_files.archive(state, CHECKED)
    try:
        backup = unpack(read_small(checked, MOST_BYTES))
        values = {key: then for key, _, then in _preview(box, backup).settings}
        if values:
            base = fingerprint(box.changes.owner.text())
            box.changes.submit(SettingsChange(handed_request.new_id(), base, values))
        checked.rename(restore_files.archive(state, WANTED))
        sync_folder(checked.parent)
    except FileNotFoundError:
        return see_other(PLACE)
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts))
    except OSError as error:
        return show(visit, 503, _write_error(visit, error))
    return _begin_anew(visit)


def cancel(visit: Visit) -> Reply:
    """Overwrite and delete the uploaded archive."""
    erase([restore_files.archive(visit.box.settings.state_path(), CHECKED)])
    return see_other(PLACE)


def bring_back(visit: Visit) -> Reply:
    """Request that the last restore is undone at the restart."""
    state = visit.box.settings.state_path()
    if restore_files.replaced(state) is None:
        return see_other(PLACE)
    try:
        write_private(state / BACK, b"")
    except OSError as error:
        return show(visit, 503, _write_error(visit, error))
    return _begin_anew(visit)


def _begin_anew(visit: Visit) -> Reply:
    visit.box.send(Restart())
    return see_other(PLACE)


def _uploaded(visit: Visit, fields: dict[str, bytes] | None) -> Reply:
    """Check an uploaded archive and save it for review."""
    if fields is None or fields.keys() != {"token", "backup"}:
        return plain(415, "This is not a valid form.")
    token = fields["token"].decode("ascii", "replace")
    if not is_form_token(token, visit.request.cookie(COOKIE)):
        return plain(403, "This page is outdated. Load it again.")
    try:
        unpack(fields["backup"])
        checked = restore_files.archive(visit.box.settings.state_path(), CHECKED)
        erase([checked])
        write_private(checked, fields["backup"])
    except BackupRefused as error:
        return show(visit, 400, refusal(error, visit.texts))
    except OSError as error:
        return show(visit, 503, _write_error(visit, error))
    return see_other(PLACE)


def _collected(box: PageBox) -> Backup:
    """Collect the backup of this box. Raises StorageError."""
    state, files = box.settings.state_path(), _files(box)
    turns = None
    if box.settings.memory.keep_turns:
        found, _ = read_turns(memory_files.path(box.settings), MOST_TURNS)
        turns = tuple(
            BackupTurn(
                turn.started, turn.turn, turn.asked, turn.seconds, turn.heard, turn.complete, "",
                turn.transcript,
            )
            for turn in reversed(found)
        )  # fmt: skip
    default = load_defaults()
    settings = {
        key: value_of(files, key)
        for key in sorted(CHANGEABLE)
        if value_of(files, key) != value_of(default, key)
    }
    try:
        enrolled = read_small(place(state, "enrolled"), LIMITS["enrolled.npz"])
    except OSError:
        enrolled = None
    return Backup(
        time.time(), __version__, box.name[:200], turns, _timers(box), settings,
        adjusted.read_file(adjusted.path(box.settings))[0], enrolled,
    )  # fmt: skip


def _timers(box: PageBox) -> tuple[BackupTimer, ...]:
    try:
        data = read_small(timer_store.path(box.settings), timer_store.MOST_BYTES)
        found = timer_store.decoded(data)
    except (OSError, *UNREADABLE):
        return ()
    return tuple(BackupTimer(timer.name[:100], timer.length_s, timer.due_wall_s) for timer in found)


def _preview(box: PageBox, backup: Backup) -> RestorePreview:
    """Compare a backup with the present state. Raises InterludeError, also for a setting that
    cannot be changed on the page."""
    _, turns = read_turns(memory_files.path(box.settings), 1)
    files, settings, model = _files(box), [], ""
    for key, value in sorted(backup.settings.items()):
        if key not in CHANGEABLE:
            shown = ShownAs.of("page-wrong-backup-key", setting=key[:60])
            problem = f"This backup sets `{key[:60]}`, which no backup holds."
            raise BackupRefused(problem, shown=shown)
        if value_of(files, key) == value:
            continue
        if key in MODEL and not can_answer(box, str(value)):
            model = str(value)[:60]
            continue
        settings.append((key, value_of(files, key), value))
    return RestorePreview(backup, turns, len(box.model.timers.timers), tuple(settings), model)


def _files(box: PageBox) -> Settings:
    try:
        return box.changes.owner.settings()
    except InterludeError:
        return box.files
