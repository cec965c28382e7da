"""What each message means in the states where the table of `state_machine.py` says so.

state.py is the state, transition.py the verbs; the rest are the moves, by who sent the message.
"""
