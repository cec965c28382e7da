"""What each message means in the states where the table of `conversation.py` says so.

record.py is the state, step.py the verbs; the rest are the moves, by who sent the message.
"""
