"""The packet format of Improv over BLE, version 2.2 (improv-wifi.com/ble). Pure.

A command or a result consists of its number, the length of its data, the data, and the low byte of
the sum of these. Each string in the data has a length byte. A command may arrive in several writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

SERVICE = "00467768-6228-2272-4663-277478268000"
STATE = "00467768-6228-2272-4663-277478268001"
ERROR = "00467768-6228-2272-4663-277478268002"
COMMAND = "00467768-6228-2272-4663-277478268003"
RESULT = "00467768-6228-2272-4663-277478268004"
CAPABILITIES = "00467768-6228-2272-4663-277478268005"
SERVICE_DATA = "00004677-0000-1000-8000-00805f9b34fb"  # apps find the box by it
HEAD, MOST_DATA = 2, 255  # bytes: number and length; limit of a length byte
PIECES_S = 5.0  # longest time from the first piece of a command to its last
MOST_PHONES = 32  # with an incomplete command; a controller holds fewer connections


class ImprovState(IntEnum):
    """The characteristic `state`. `PROVISIONING`: the box tries to join the Wi-Fi. `PROVISIONED`:
    it has joined."""

    AUTHORIZATION_REQUIRED = 1
    AUTHORIZED = 2
    PROVISIONING = 3
    PROVISIONED = 4


class ImprovProblem(IntEnum):
    """The characteristic `error`."""

    NONE = 0
    INVALID_PACKET = 1
    UNKNOWN_COMMAND = 2
    UNABLE_TO_CONNECT = 3
    NOT_AUTHORIZED = 4
    OTHER = 0xFF


class ImprovCommand(IntEnum):
    WIFI = 1
    IDENTIFY = 2
    DEVICE_INFO = 3
    NETWORKS = 4


class ImprovCapabilities(IntFlag):
    IDENTIFY = 1
    DEVICE_INFO = 2
    NETWORKS = 4


ALL = ImprovCapabilities.IDENTIFY | ImprovCapabilities.DEVICE_INFO | ImprovCapabilities.NETWORKS


class BadPacket(ValueError):
    """A phone sent an invalid command. `problem`: the error code for the phone."""

    def __init__(self, problem: ImprovProblem, why: str) -> None:
        super().__init__(why)
        self.problem = problem


@dataclass(frozen=True)
class ImprovRequest:
    """A parsed command. `strings`: name and password of a Wi-Fi; other commands have none."""

    command: ImprovCommand
    strings: tuple[bytes, ...] = ()


def checksum(data: bytes) -> int:
    return sum(data) & 0xFF


def packet(number: int, strings: Iterable[bytes] = ()) -> bytes:
    """Encode a command or a result. Raises ValueError if the data exceeds 255 bytes."""
    data = b"".join(bytes([len(string)]) + string for string in strings)
    if len(data) > MOST_DATA:
        raise ValueError(f"{len(data)} bytes are more than {MOST_DATA}")
    body = bytes([number, len(data)]) + data
    return body + bytes([checksum(body)])


def parse(data: bytes) -> ImprovRequest:
    """Parse a complete command. Raises BadPacket."""
    invalid = ImprovProblem.INVALID_PACKET
    if len(data) < HEAD + 1 or len(data) != HEAD + data[1] + 1:
        raise BadPacket(invalid, "its length is wrong")
    if checksum(data[:-1]) != data[-1]:
        raise BadPacket(invalid, "its checksum is wrong")
    try:
        command = ImprovCommand(data[0])
    except ValueError:
        raise BadPacket(ImprovProblem.UNKNOWN_COMMAND, f"command {data[0]}") from None
    strings = _strings(data[HEAD:-1])
    if len(strings) != (2 if command is ImprovCommand.WIFI else 0):
        raise BadPacket(invalid, f"{len(strings)} strings")
    return ImprovRequest(command, strings)


def _strings(data: bytes) -> tuple[bytes, ...]:
    """Split the data into its strings. Raises BadPacket."""
    found, at = [], 0
    while at < len(data):
        end = at + 1 + data[at]
        if end > len(data):
            raise BadPacket(ImprovProblem.INVALID_PACKET, "a string goes beyond the end")
        found.append(data[at + 1 : end])
        at = end
    return tuple(found)


@dataclass
class CommandReader:
    """Assembles each phone's command from its pieces: a BLE packet may hold only 20 bytes of it."""

    # By phone: time of the first piece, and the pieces. The phone that wrote last is the last.
    _partial: dict[str, tuple[float, bytearray]] = field(default_factory=dict)

    def read(self, piece: bytes, now_s: float, phone: str = "") -> ImprovRequest | None:
        """Add a piece; return the command if it is complete, else None. Raises BadPacket, and then
        starts a new command. `phone`: the sender."""
        started_s, pieces = self._partial.pop(phone, (now_s, bytearray()))
        if now_s - started_s > PIECES_S:
            started_s, pieces = now_s, bytearray()
        pieces += piece[: HEAD + MOST_DATA + 2]  # one byte too many, which `parse` refuses
        if len(pieces) >= HEAD and len(pieces) >= HEAD + pieces[1] + 1:
            return parse(bytes(pieces))
        while len(self._partial) >= MOST_PHONES:
            del self._partial[next(iter(self._partial))]
        self._partial[phone] = started_s, pieces
        return None


def networks_result(networks: Sequence[tuple[str, int, bool]], most_bytes: int) -> bytes:
    """The result with name, dBm and security of the networks, as many of the first ones as fit into
    one notification of `most_bytes` and into a result."""
    strings: list[bytes] = []
    room = min(most_bytes - HEAD - 1, MOST_DATA)
    for name, dbm, secured in networks:
        more = [name.encode(), str(dbm).encode(), b"WPA2" if secured else b"NO"]
        room -= sum(1 + len(string) for string in more)
        if room < 0:
            break
        strings += more
    return packet(ImprovCommand.NETWORKS, strings)


def service_data(state: ImprovState) -> bytes:
    """The advertised service data: state, capabilities, four reserved bytes."""
    return bytes([state, ALL, 0, 0, 0, 0])
