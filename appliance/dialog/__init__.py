"""Dialogue: the conductor, the state machine with its state and tables, and the memory.

state.py is the state, table.py says which handler a message has in each state, transition.py has
what handlers are made of, and on_*.py are the handlers, by the sender of the message.
"""
