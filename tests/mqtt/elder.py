"""A broker without MQTT 5: Mosquitto behind a proxy that refuses CONNECT packets of MQTT 5."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from lab.bench.mosquitto import Mosquitto

PROTOCOL_LEVEL = 8  # offset in CONNECT if the length takes one byte: MQTT 3.1.1, section 3.1.2.2
REFUSED = b"\x20\x02\x00\x01"  # CONNACK, unacceptable protocol version


@contextlib.contextmanager
def without_mqtt_5(broker: Mosquitto) -> Iterator[Mosquitto]:
    """Proxy `broker` at another port, for clients of MQTT 3.1.1 only."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, broker.port))
        thread.start()
        yield Mosquitto(broker.folder, server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def _serve(server: socket.socket, port: int) -> None:
    threads = []
    with contextlib.suppress(OSError):  # the server socket is closed
        while True:
            near, _ = server.accept()
            threads.append(threading.Thread(target=_proxy, args=(near, port)))
            threads[-1].start()
    for thread in threads:
        thread.join()


def _proxy(near: socket.socket, port: int) -> None:
    first = near.recv(4096)
    if first[PROTOCOL_LEVEL] == 5:
        near.sendall(REFUSED)
        near.close()
        return
    far = socket.create_connection(("127.0.0.1", port))
    far.sendall(first)
    back = threading.Thread(target=_pump, args=(far, near))
    back.start()
    _pump(near, far)
    back.join()
    near.close()
    far.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
