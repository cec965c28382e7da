"""Dialogue: the conductor, the state machine with its state and tables, and the memory.

state.py defines the state, table.py names the handler of each message in each state, transition.py
has the operations that handlers call, and on_*.py contain the handlers, one file per subject.
"""
