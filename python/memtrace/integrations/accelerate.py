# SPDX-License-Identifier: Apache-2.0
"""accelerate: memtrace's numbers through `accelerator.log`, to every tracker that it has.

    numbers = MemtraceLog(accelerator)
    for step, batch in enumerate(loader):
        …
        numbers.log(step)
    numbers.finish(step)
"""

from __future__ import annotations

from memtrace.integrations._quiet import missing, quietly
from memtrace.integrations.scalars import EVERY_S, Pace, scalars

try:
    import accelerate  # noqa: F401 - said here, not at the first log
except ImportError as error:
    raise missing(__name__, "accelerate") from error


class MemtraceLog:
    """Reads the recording at most every `every_s` seconds, in the main process alone: others have no trackers."""

    def __init__(self, accelerator, every_s: float = EVERY_S):
        self._accelerator = accelerator
        self._pace = Pace(every_s)

    def log(self, step: int | None = None) -> None:
        """Logs where it is time; costs a look at the clock where it is not."""
        if self._pace.is_due():
            self.finish(step)

    @quietly("logging memtrace's numbers by accelerate")
    def finish(self, step: int | None = None) -> None:
        """Logs now; to be called before `accelerator.end_training()`."""
        if not self._accelerator.is_main_process:
            return
        found = scalars()
        self._pace.put_off()
        if found:
            self._accelerator.log(found, step=step)
