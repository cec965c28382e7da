"""Which speech the box accepts: microphone, listening mode, talk button and wake word.

In: switches, presses, wake words, times. Out: the command for the listener (SetListening).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.messages.commands import ModeName, Opening, StateName
from appliance.messages.hearing import SetListening


@dataclass(frozen=True)
class ListeningState:
    """Which speech is accepted.

    mode             the listening mode
    muted            the owner has switched the microphone off
    switched_off     the switch on the housing cuts the microphone
    press_until_s    when a press without a message is acknowledged; NEVER: none is pending
    button_until_s   when the talk button, down or on, counts as stuck; NEVER: it is up
    open_until_s     until when no wake word is needed after an answer; NEVER: one is needed
    opening          how the owner opened the floor for the turn that is being listened to
    confirming       the answer asks for a second request, for which the wake word is not waived
    wake_index       the card's index at the end of the wake word; 0: none opened the floor
    sent             the last command to the listener; None: the listener has just started
    """

    mode: ModeName = "open"
    muted: bool = False
    switched_off: bool = False
    press_until_s: float = NEVER
    button_until_s: float = NEVER
    open_until_s: float = NEVER
    opening: Opening = ""
    confirming: bool = False
    wake_index: int = 0
    sent: SetListening | None = None

    @property
    def microphone_off(self) -> bool:
        """No speech is accepted; typed questions are still answered."""
        return self.muted or self.switched_off

    @property
    def opened_for_turn(self) -> bool:
        return self.opening != ""

    @property
    def button_down(self) -> bool:
        """The talk button is down, or has been switched on."""
        return self.button_until_s < NEVER

    @property
    def consistent(self) -> bool:
        """The button is down in mode push_to_talk only. The wake word is waived in mode wake_word
        only, and not while the floor is open for a turn. With the microphone off nothing is open.
        """
        spared = self.open_until_s < NEVER
        return (
            (not self.button_down or self.mode == "push_to_talk")
            and (not spared or (self.mode == "wake_word" and not self.opened_for_turn))
            and not (self.microphone_off and (self.button_down or self.opened_for_turn))
        )

    @property
    def deadline_s(self) -> float:
        return min(self.press_until_s, self.button_until_s, self.open_until_s)

    def set_microphone(self, *, muted: bool, switched_off: bool) -> ListeningState:
        return replace(self, muted=muted, switched_off=switched_off)

    def set_mode(self, mode: ModeName) -> ListeningState:
        """Change the listening mode."""
        return replace(self, mode=mode, button_until_s=NEVER, open_until_s=NEVER)

    def await_press(self, until_s: float) -> ListeningState:
        """The floor has a press: wait for its message until `until_s`."""
        return replace(self, press_until_s=until_s)

    def acknowledge_press(self) -> ListeningState:
        return replace(self, press_until_s=NEVER)

    def hold_button(self, until_s: float) -> ListeningState:
        """The talk button is down, or on, until `until_s` at most."""
        return replace(self, button_until_s=until_s)

    def release_button(self) -> ListeningState:
        return replace(self, button_until_s=NEVER)

    def open_for_turn(self, opening: Opening) -> ListeningState:
        """The owner opens the floor for the next turn only."""
        return replace(self, open_until_s=NEVER, opening=opening, wake_index=0)

    def wake(self, index: int) -> ListeningState:
        """The wake word that opened the floor ended at `index`."""
        return replace(self, wake_index=index)

    def take_question(self) -> ListeningState:
        """The question has come: the floor is no longer open for the turn."""
        return replace(self, opening="", confirming=False)

    def await_confirmation(self) -> ListeningState:
        """The answer asks for a second request."""
        return replace(self, confirming=True)

    def spare_wake_word(self, now_s: float, policy: DialogPolicy) -> ListeningState:
        """Waive the wake word for `follow_s` after an answer that was heard."""
        if self.mode != "wake_word" or not policy.follow_s or self.confirming:
            return self
        return replace(self, open_until_s=now_s + policy.follow_s)

    def need_wake_word(self) -> ListeningState:
        return replace(self, open_until_s=NEVER)

    def end_turn(self) -> ListeningState:
        """The box is at rest: the button, the open floor and the wake word no longer count."""
        return replace(self, button_until_s=NEVER, opening="", wake_index=0)

    def mark_sent(self, command: SetListening | None) -> ListeningState:
        return replace(self, sent=command)

    def command(self, state: StateName, *, ringing: bool, policy: DialogPolicy) -> SetListening:
        """The command for the listener while the dialogue is in `state`."""
        if self.microphone_off:
            return SetListening(False, "the microphone is off", over_box=False)
        if self.mode == "open":
            return SetListening(True, "open")
        over_box = self.mode in policy.by_voice
        if state == "listening":
            held = self.button_down
            return SetListening(True, "the floor is open", over_box, held, self.wake_index)
        if ringing:
            return SetListening(True, "something rings")
        if self.mode == "push_to_talk":
            return SetListening(False, "the button is up", over_box)
        if state in ("thinking", "speaking", "holding") and not self.confirming:
            return SetListening(True, "a conversation", over_box)
        if self.open_until_s < NEVER:
            return SetListening(True, "an answer has just ended", over_box)
        return SetListening(False, "until the wake word", over_box)
