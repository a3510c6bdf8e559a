# SPDX-License-Identifier: Apache-2.0
"""Programs whose output and exit status must not change: (program and arguments, exit status)."""

DOES_THE_SAME = [
    (("normal",), 0),
    (("uncaught_exception",), 1),
    (("exception_in_backward",), 1),
    (("fork_in_the_middle",), 0),
    (("training_in_a_thread",), 0),
    (("os_exit",), 7),
    (("errno_stays",), 0),
    (("signals_itself", "handled"), 9),
    (("data_loader_workers", "fork"), 0),
    (("data_loader_workers", "spawn"), 0),
]
ENDED_BY = ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGABRT"]
SEVERAL_TRACES = [("spawned_trainer", 2), ("subprocesses", 2), ("exec_itself", 2)]
