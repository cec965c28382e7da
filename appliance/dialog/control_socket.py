"""The control socket: commands from a shell on the same machine, through a Unix socket (mode 0600).

In: messages of `messages/commands.py`, one per datagram, as on any channel. Out: after each command
the dialogue's state; after a Forget its result, once it is known; or the reason of a refusal, after
which the connection is closed. Unlike the other channels between processes it has a path, which
only the box's user and root can open.
"""

from __future__ import annotations

import errno
import logging
import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import BadMessage, ControlError
from appliance.messages.commands import (
    Ask,
    CommandRefused,
    Forget,
    Forgotten,
    ListenOnce,
    Mute,
    Repeat,
    Restart,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.limits import MAX_BYTES, MAX_LINE
from appliance.messages.registry import Message, decode, encode
from appliance.runtime import status
from appliance.settings import Settings

NAME = "conductor/control"
MOST_CLIENTS = 8  # at once; the oldest is disconnected
# Errors of accept(2) when the process, the machine or the kernel has no resources for one more.
_NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
NO_COMMAND = "The control socket does not accept this message."
COMMANDS = (
    Ask, Forget, ListenOnce, Mute, Repeat, Restart, Say, SetMode, SetVoice, SetVolume, StopSpeaking,
    TalkButton,
)  # fmt: skip


def socket_paths(settings: Settings) -> list[Path]:
    """Paths of the control socket: the box opens the first, a client tries all. It is in a runtime
    directory (tmpfs), or in the folder that the settings name as `state_dir`."""
    state_path = settings.state_path() / NAME
    if settings.state_dir:
        return [state_path]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    runtime_folders = [status.folder(), Path(runtime) / "interlude" if runtime else None]
    return [
        *(folder / NAME for folder in runtime_folders if folder is not None),
        state_path,
        status.FOLDER / NAME,
    ]


class ControlSocket:
    """The server side. No method blocks; `fileno` is readable when a client or a command waits."""

    def __init__(self, path: Path) -> None:
        """Raises ControlError if the socket cannot be opened, or if another box serves it."""
        self._path = path
        self._listener = _open(path)
        # By serial number, oldest first. The kernel reuses the number of a descriptor for a later
        # client, which must not get a reply that is meant for a client that has left.
        self._clients: dict[int, socket.socket] = {}
        self._serials: dict[int, int] = {}  # by descriptor
        self._accepted = 0
        self._full = False  # accept failed for lack of resources
        self._epoll = select.epoll()
        self._epoll.register(self._listener, select.EPOLLIN)

    def fileno(self) -> int:
        return self._epoll.fileno()

    def pop_commands(self) -> list[tuple[int, Message]]:
        """The commands that have arrived, each with the serial number of its client."""
        found = []
        if self._full:
            self._poll_listener(True)
        for fd, _ in self._epoll.poll(0):
            if fd == self._listener.fileno():
                self._accept()
            elif (client := self._serials.get(fd)) is None:
                continue  # disconnected since the poll, for a newer one
            elif (command := self._receive(client)) is not None:
                found.append((client, command))
        return found

    def reply(self, client: int, answer: StateChanged | Forgotten | CommandRefused) -> None:
        """Send a reply to a client, which may have left already."""
        if client in self._clients and not self._reply_now(client, answer):
            self._disconnect(client)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        for client in list(self._clients):
            self._disconnect(client)
        self._epoll.close()
        self._listener.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError as error:
            if error.errno in _NO_ROOM:
                self._poll_listener(False)
            return  # other errors: the client has left
        connection.setblocking(False)
        if len(self._clients) >= MOST_CLIENTS:
            self._disconnect(next(iter(self._clients)))
        self._accepted += 1
        self._clients[self._accepted] = connection
        self._serials[connection.fileno()] = self._accepted
        self._epoll.register(connection, select.EPOLLIN)

    def _poll_listener(self, wanted: bool) -> None:
        """Set whether a waiting client makes `fileno` readable. Without a descriptor to accept it,
        each poll would return at once; the conductor's next call tries again instead."""
        self._full = not wanted
        self._epoll.modify(self._listener, select.EPOLLIN if wanted else 0)

    def _receive(self, client: int) -> Message | None:
        """Read a client's command. Anything else is refused, and the client disconnected."""
        try:
            data = self._clients[client].recv(MAX_BYTES + 1)
            command = decode(data)
        except BlockingIOError:
            return None
        except BadMessage as error:
            if data:  # no data: the client has left
                self._reply_now(client, CommandRefused(str(error)[:MAX_LINE]))
        except OSError:
            pass
        else:
            if isinstance(command, COMMANDS):
                return command
            self._reply_now(client, CommandRefused(NO_COMMAND))
        self._disconnect(client)
        return None

    def _reply_now(self, client: int, answer: StateChanged | Forgotten | CommandRefused) -> bool:
        """Send a reply. Returns False if the client has left or does not read."""
        try:
            self._clients[client].send(encode(answer))
        except OSError:
            return False
        return True

    def _disconnect(self, client: int) -> None:
        connection = self._clients.pop(client)
        del self._serials[connection.fileno()]
        self._epoll.unregister(connection)
        connection.close()


def open_control_socket(settings: Settings, log: logging.Logger) -> ControlSocket | None:
    """Open the control socket; returns None, and logs the reason, if that fails."""
    try:
        return ControlSocket(socket_paths(settings)[0])
    except ControlError as error:
        log.warning("%s", error)
        return None


def _open(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_served(path):
            raise ControlError(f"{path}: another Interlude answers there already.")
        path.unlink(missing_ok=True)  # left by a process that was killed
        mask = os.umask(0o177)
        try:
            with short(path) as address:
                listener.bind(address)
        finally:
            os.umask(mask)
        listener.listen(MOST_CLIENTS)
    except OSError as error:
        listener.close()
        if isinstance(error, ControlError):
            raise
        problem = f"{path}: the control socket cannot be opened ({error.strerror or error})."
        raise ControlError(problem) from error
    listener.setblocking(False)
    return listener


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        try:
            with short(path) as address:
                client.connect(address)
        except OSError:
            return False
        return True


@contextmanager
def short(path: Path) -> Iterator[str]:
    """A short path to the same file: a socket address has room for 107 bytes (unix(7))."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
