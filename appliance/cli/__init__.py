"""The commands of the command line; each module carries out one command or a group of them."""
