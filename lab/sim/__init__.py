"""A scripted owner and a room around the software sound card: demo and rehearsals."""
