"""Failures of the connection to the broker: a sentence, a remedy and the class of the back-off."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

from appliance.errors import LinkError, ShownAs
from appliance.mqtt.backoff import Cause
from appliance.mqtt.broker import Broker


@dataclass(frozen=True)
class BrokerFailure:
    """`cause` selects the back-off. `other_protocol`: another version of MQTT may succeed. `shown`:
    the text on the page."""

    cause: Cause
    problem: str
    remedy: str = ""
    other_protocol: bool = False
    shown: ShownAs | None = None

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}".strip()


def not_reached(error: BaseException, broker: Broker) -> BrokerFailure:
    """The connection could not be established: name, network, TCP or TLS."""
    place = broker.place
    match error:
        case LinkError():
            return BrokerFailure("refused", error.problem, error.remedy, shown=error.shown)
        case ssl.SSLError() | ConnectionResetError() if broker.tls:
            return _no_tls(error, place)
        case socket.gaierror():
            return BrokerFailure(
                "away",
                f"The name {broker.host} is not known in this network.",
                "Check `link.broker`, or give the IP address.",
                shown=ShownAs.of("page-wrong-broker-name", name=broker.host),
            )
        case ConnectionRefusedError():
            return BrokerFailure("away", f"No broker listens at {place}.",
                           "Is it running? Check `link.broker` and `link.port`.",
                           shown=ShownAs.of("page-wrong-broker-port", at=place))  # fmt: skip
        case TimeoutError():
            return BrokerFailure("away", f"There is no answer from {place}.",
                           "Is it switched on, and does a firewall let us through?",
                           shown=ShownAs.of("page-wrong-broker-silent", at=place))  # fmt: skip
        case OSError():
            return BrokerFailure("away", f"{place} cannot be reached ({error.strerror or error}).",
                           "Is the network up?",
                           shown=ShownAs.of("page-wrong-broker-network", at=place))  # fmt: skip
    return BrokerFailure("away", f"{place} cannot be reached ({error}).")


def _no_tls(error: OSError, place: str) -> BrokerFailure:
    """The TLS handshake failed: over the broker's certificate, or because it does not speak TLS."""
    plain = "Set `link.port` to its TLS port, often 8883, or `link.tls` to false."
    match error:
        case ssl.SSLCertVerificationError():
            return BrokerFailure(
                "refused",
                f"The certificate of the broker at {place} is not trusted: "
                f"{error.verify_message.rstrip('.')}.",
                "Name the authority that signed it in `link.ca_file`, and the broker as its "
                "certificate does in `link.broker`.",
                shown=ShownAs.of("page-wrong-broker-certificate", at=place),
            )
        case ssl.SSLError():
            reason = error.reason or "no reason given"
            return BrokerFailure(
                "refused",
                f"The broker at {place} does not speak TLS as we do ({reason}).",
                plain,
                shown=ShownAs.of("page-wrong-broker-tls", at=place),
            )
    return BrokerFailure(
        "away",
        f"The broker at {place} hung up instead of speaking TLS.",
        plain,
        shown=ShownAs.of("page-wrong-broker-tls", at=place),
    )


def refused(code: int, name: str, broker: Broker) -> BrokerFailure:
    """The broker rejected the connection or ended it. `code` is a reason code of MQTT 5 (sections
    3.2.2.2 and 3.14.2.1); paho translates the codes of 3.1.1 to them."""
    place = broker.place
    match code:
        case 0x84:
            return BrokerFailure("away", f"The broker at {place} requires another version of MQTT.",
                           other_protocol=True)  # fmt: skip
        case 0x86 | 0x87 if broker.user:
            return BrokerFailure(
                "refused",
                f"The broker at {place} refuses the login of {broker.user}.",
                "Check `link.user` and the password file.",
                shown=ShownAs.of("page-wrong-broker-login", at=place, user=broker.user),
            )
        case 0x86 | 0x87:
            return BrokerFailure("refused", f"The broker at {place} requires a login.",
                           "Give `link.user` and `link.password_file`.",
                           shown=ShownAs.of("page-wrong-broker-needs-login", at=place))  # fmt: skip
        case 0x85:
            return BrokerFailure("refused", f"The broker at {place} refuses our client id.",
                           "Set `link.id` to letters and digits only.")  # fmt: skip
        case 0x8A:
            return BrokerFailure("refused", f"The broker at {place} has banned us.", "See its log.")
        case 0x8E:
            return BrokerFailure("taken", f"Another box took our place at the broker at {place}.",
                           "Two boxes have the same `link.id`: give each its own.")  # fmt: skip
    return BrokerFailure("away", f"The broker at {place} turned us away: {name}.", "See its log.")


def closed(broker: Broker) -> BrokerFailure:
    """The broker closed the connection before it sent CONNACK."""
    remedy = (
        "It may want a certificate of the box: `link.certificate_file`."
        if broker.tls
        else "If its port is one for TLS, set `link.tls`."
    )
    return BrokerFailure(
        "away", f"{broker.place} closed the connection without an answer.", remedy,
        other_protocol=True, shown=ShownAs.of("page-wrong-broker-closed", at=broker.place),
    )  # fmt: skip


def silent(broker: Broker) -> BrokerFailure:
    """The broker accepted the TCP connection and does not answer."""
    return BrokerFailure(
        "away",
        f"The broker at {broker.place} does not answer.",
        "Is it overloaded?",
        shown=ShownAs.of("page-wrong-broker-silent", at=broker.place),
    )


def lost(broker: Broker) -> BrokerFailure:
    return BrokerFailure("away", f"The broker at {broker.place} is gone.")


def flapping(broker: Broker) -> BrokerFailure:
    """The broker accepted and closed several connections in a row."""
    return BrokerFailure(
        "taken",
        f"The broker at {broker.place} accepts connections and soon closes them, again and again.",
        "Does another box have the same `link.id`? Else see the broker's log.",
    )


def too_large(broker: Broker, claimed: int, most: int) -> BrokerFailure:
    """The broker sent a packet above the size limit. With MQTT 5 it would have dropped it."""
    return BrokerFailure(
        "refused",
        f"The broker at {broker.place} sends a packet of {claimed} bytes; {most} are taken.",
        "Something large is published, or retained, under the box's own topics: remove it.",
    )


def nonsense(broker: Broker) -> BrokerFailure:
    return BrokerFailure("refused", f"What answers at {broker.place} does not speak MQTT.",
                   "Check `link.broker` and `link.port`.",
                   shown=ShownAs.of("page-wrong-broker-other", at=broker.place))  # fmt: skip
