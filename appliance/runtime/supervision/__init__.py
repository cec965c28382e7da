"""How the processes of the table are started, watched, slowed down and ended."""
