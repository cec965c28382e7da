"""Checks of the machine for `interlude check`: cores, rights, memory, disk, temperature, power.

In: the settings and a view of the machine. Out: findings.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

from appliance.cli import rows
from appliance.errors import ShownAs
from appliance.runtime import landlock
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.runtime.machine import LOW_VOLTAGE, Machine
from appliance.settings import Settings

LEAST_DISK_MIB = 200  # free space for the memory of conversations and the log
HOT_C = 75.0  # a Pi lowers its clock from 80 °C on
_LIMITS = "/etc/security/limits.d/interlude.conf"
_LANDLOCK_GUIDE = "docs/security.md says what is then not covered."
_LANDLOCK_REMEDIES = {
    errno.ENOSYS: "Debian's kernel has it, Raspberry Pi's own has not.",
    errno.EOPNOTSUPP: "Add `landlock` to the list `lsm=` on the kernel's command line.",
}


def machine_findings(settings: Settings, machine: Machine) -> Iterator[Finding]:
    """Yield the findings of every check of this module."""
    yield from _cores(settings, machine)
    yield from _permissions(settings, machine)
    yield from _memory(settings, machine)
    yield from _disk(settings, machine)
    yield from _heat(machine)


def _cores(settings: Settings, machine: Machine) -> Iterator[Finding]:
    cores = machine.cores()
    table = rows.rows_to_run(settings)
    missing = [row.name for row in table if row.cores and not cores.intersection(row.cores)]
    thinker = {core for row in table if row.name == "thinker" for core in row.cores}
    others = {core for row in table if row.name != "thinker" for core in row.cores}
    shared = sorted(thinker & others & cores)
    if missing:
        yield warning(
            "cores",
            f"{len(cores)} cores: the cores meant for {', '.join(missing)} do not exist here.",
            "The kernel chooses others, which is enough for development. Or set `processes`.",
            ShownAs.of("page-find-cores-few", count=len(cores)),
        )
    elif shared:
        yield warning(
            "cores",
            f"The thinker shares core {', '.join(map(str, shared))}: a busy neighbour makes it "
            "2 to 5 times slower.",
            "Give it cores of its own in `processes.thinker.cores`.",
            ShownAs.of("page-find-cores-shared"),
        )
    else:
        yield ok(
            "cores",
            f"{len(cores)} cores: every process has those it is meant for.",
            ShownAs.of("page-find-cores", count=len(cores)),
        )


def _permissions(settings: Settings, machine: Machine) -> Iterator[Finding]:
    table = rows.rows_to_run(settings)
    wanted = max((row.priority for row in table if row.scheduling == "fifo"), default=0)
    if machine.may_schedule() >= wanted:
        yield ok(
            "permissions",
            f"Real-time scheduling is permitted, up to priority {wanted}.",
            ShownAs.of("page-find-realtime"),
        )
    else:
        yield warning(
            "permissions",
            "Real-time scheduling is not permitted: under load, sound may drop out.",
            f"Add a line to {_LIMITS}: @audio - rtprio 40",
            ShownAs.of("page-find-realtime-not"),
        )
    to_lock_mib = max((row.memory_mib for row in table if row.lock_memory), default=0)
    if machine.may_lock_mib() >= to_lock_mib:
        shown = ShownAs.of("page-find-locking")
        yield ok("permissions", "Locking memory is permitted.", shown)
    else:
        yield warning(
            "permissions",
            f"Only {machine.may_lock_mib()} of {to_lock_mib} MiB may be locked in memory: "
            "swapping may interrupt the sound.",
            f"Add a line to {_LIMITS}: @audio - memlock unlimited",
            ShownAs.of("page-find-locking-not"),
        )


def landlock_finding(abi: Callable[[], int] = landlock.abi) -> Finding:
    """Whether the kernel keeps each part to the files of its row (runtime/landlock.py)."""
    try:
        version = abi()
    except OSError as error:
        problem_text = f"The parts are not kept from each other's files: {landlock.why_not(error)}."
        remedy = f"{_LANDLOCK_REMEDIES.get(error.errno or 0, '')} {_LANDLOCK_GUIDE}".strip()
        return warning("permissions", problem_text, remedy, ShownAs.of("page-find-landlock-none"))
    unlimited = [what for what, since in landlock.SINCE.items() if version < since]
    lacking = f"; it does not limit {' and '.join(unlimited)}" if unlimited else ""
    sentence = f"Each part is kept to its own files (Landlock, version {version}{lacking})."
    return ok("permissions", sentence, ShownAs.of("page-find-landlock"))


def _memory(settings: Settings, machine: Machine) -> Iterator[Finding]:
    if (present_mib := machine.memory_mib()) is None:
        return
    needed_mib = sum(row.memory_mib for row in rows.rows_to_run(settings)) + _weights_mib(settings)
    if present_mib < needed_mib:
        yield problem(
            "memory",
            f"{present_mib} MiB of memory, of {needed_mib} that these settings may need.",
            "Choose a smaller model in `thinking.model`, e.g. pocket.",
            ShownAs.of("page-find-memory-short", have=present_mib, need=needed_mib),
        )
    else:
        shown = ShownAs.of("page-find-memory", have=present_mib, need=needed_mib)
        sentence = f"{present_mib} MiB of memory; these settings may need {needed_mib}."
        yield ok("memory", sentence, shown)


def _weights_mib(settings: Settings) -> int:
    from appliance.models.store import ModelStore

    model = ModelStore.of(settings).models.get(settings.thinking.model)
    if settings.thinking.remote.url or model is None:
        return 0
    return (model.size or 0) >> 20


def _disk(settings: Settings, machine: Machine) -> Iterator[Finding]:
    folder = settings.state_path()
    free_mib = machine.free_disk_mib(folder)
    if not machine.writable(folder):
        yield problem(
            "disk",
            f"{folder} cannot be written: nothing would be remembered.",
            "Mend its permissions, or name another folder in `state_dir`.",
            ShownAs.of("page-find-disk-locked"),
        )
    elif free_mib is not None and free_mib < LEAST_DISK_MIB:
        shown = ShownAs.of("page-find-disk-full", mib=free_mib, least=LEAST_DISK_MIB)
        remedy = f"Free {LEAST_DISK_MIB} or more."
        yield problem("disk", f"Only {free_mib} MiB are free for {folder}.", remedy, shown)
    else:
        shown = ShownAs.of("page-find-disk", mib=free_mib or 0)
        yield ok("disk", f"{free_mib} MiB are free for {folder}.", shown)


def _heat(machine: Machine) -> Iterator[Finding]:
    now, since = machine.throttled()
    remedy = "On a Pi: the official 27 W supply, and an active cooler."
    if now:
        shown = ShownAs.of("page-find-power-now" if LOW_VOLTAGE in now else "page-find-heat-now")
        yield problem("heat, power", f"At this moment {', '.join(now)}.", remedy, shown)
    if since:
        shown = ShownAs.of(
            "page-find-power-since" if LOW_VOLTAGE in since else "page-find-heat-since"
        )
        sentence = f"At some time since the start {', '.join(since)}."
        yield warning("heat, power", sentence, remedy, shown)
    if (degrees := machine.temperature_c()) is None:
        return
    place = f"{machine.name() or 'The processor'} is at {degrees:.0f} °C"
    if degrees > HOT_C:
        shown = ShownAs.of("page-find-hot", degrees=round(degrees))
        yield warning("heat, power", f"{place}: from 80 on it slows down.", remedy, shown)
    else:
        yield ok("heat, power", f"{place}.", ShownAs.of("page-find-warm", degrees=round(degrees)))
