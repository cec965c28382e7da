"""The bytes of Improv over BLE, version 2.2 (improv-wifi.com/ble). Pure.

A command or a result: its number, the length of its data, the data, the low byte of the sum of all
that. Strings in the data have a byte of length before them. A command may come in several writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag

SERVICE = "00467768-6228-2272-4663-277478268000"
STATE = "00467768-6228-2272-4663-277478268001"
ERROR = "00467768-6228-2272-4663-277478268002"
COMMAND = "00467768-6228-2272-4663-277478268003"
RESULT = "00467768-6228-2272-4663-277478268004"
CAPABILITIES = "00467768-6228-2272-4663-277478268005"
SERVICE_DATA = "00004677-0000-1000-8000-00805f9b34fb"  # by which apps find it
HEAD, MOST_DATA = 2, 255  # bytes: number and length; what one byte of length can say
PIECES_S = 5.0  # from the first piece of a command to its last


class ImprovState(IntEnum):
    """`PROVISIONING`: the box tries the Wi-Fi. `PROVISIONED`: it is in it."""

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
    """What a phone sent is no command. `problem`: what it is told."""

    def __init__(self, problem: ImprovProblem, why: str) -> None:
        super().__init__(why)
        self.problem = problem


@dataclass(frozen=True)
class ImprovRequest:
    """`strings`: name and password of a Wi-Fi; of other commands none."""

    command: ImprovCommand
    strings: tuple[bytes, ...] = ()


def checksum(data: bytes) -> int:
    return sum(data) & 0xFF


def packet(number: int, strings: Iterable[bytes] = ()) -> bytes:
    """A command or a result. Raises ValueError for what one byte of length cannot say."""
    data = b"".join(bytes([len(string)]) + string for string in strings)
    if len(data) > MOST_DATA:
        raise ValueError(f"{len(data)} bytes are more than {MOST_DATA}")
    whole = bytes([number, len(data)]) + data
    return whole + bytes([checksum(whole)])


def parse(whole: bytes) -> ImprovRequest:
    """A command with all its bytes. Raises BadPacket."""
    invalid = ImprovProblem.INVALID_PACKET
    if len(whole) < HEAD + 1 or len(whole) != HEAD + whole[1] + 1:
        raise BadPacket(invalid, "it is not as long as it says")
    if checksum(whole[:-1]) != whole[-1]:
        raise BadPacket(invalid, "its sum is another")
    try:
        command = ImprovCommand(whole[0])
    except ValueError:
        raise BadPacket(ImprovProblem.UNKNOWN_COMMAND, f"command {whole[0]}") from None
    strings = _strings(whole[HEAD:-1])
    if len(strings) != (2 if command is ImprovCommand.WIFI else 0):
        raise BadPacket(invalid, f"{len(strings)} strings")
    return ImprovRequest(command, strings)


def _strings(data: bytes) -> tuple[bytes, ...]:
    """Raises BadPacket."""
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
    """Puts the pieces of a command together: a packet of BLE may hold 20 bytes of it."""

    _pieces: bytearray
    _phone: str = ""
    _began_s: float = 0.0

    def __init__(self) -> None:
        self._pieces = bytearray()

    def read(self, piece: bytes, now_s: float, phone: str = "") -> ImprovRequest | None:
        """The command, with its last piece. None: more is to come. Raises BadPacket, and begins
        anew. `phone`: who wrote; what another one had begun is forgotten."""
        if phone != self._phone or now_s - self._began_s > PIECES_S:
            self._pieces.clear()
        if not self._pieces:
            self._began_s, self._phone = now_s, phone
        self._pieces += piece[: HEAD + MOST_DATA + 2]  # one too many is seen as such
        if len(self._pieces) < HEAD or len(self._pieces) < HEAD + self._pieces[1] + 1:
            return None
        whole = bytes(self._pieces)
        self._pieces.clear()
        return parse(whole)


def networks_result(networks: Sequence[tuple[str, int, bool]], most_bytes: int) -> bytes:
    """Name, dBm and whether a password is needed, of as many of them, in this order, as fit into
    `most_bytes` of one notification, and into a result."""
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
    """What is advertised beside the service: state, capabilities, four bytes that are reserved."""
    return bytes([state, ALL, 0, 0, 0, 0])
