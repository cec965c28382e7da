"""Starting, monitoring, throttling and stopping the processes of the process table."""
