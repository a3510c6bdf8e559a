# SPDX-License-Identifier: Apache-2.0
"""Lightning: marks a Trainer's steps and phases, and gives memtrace's numbers to its loggers.

    Trainer(callbacks=[MemtraceCallback()])
"""

from __future__ import annotations

import memtrace
from memtrace.integrations._quiet import missing, quietly
from memtrace.integrations.scalars import EVERY_S, Pace, PhaseStack, scalars

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError as error:
        raise missing(__name__, "lightning") from error

STEP, VALIDATION, TEST, PREDICTION = "train step", "validation", "test", "prediction"


class MemtraceCallback(Callback):
    """steps: mark steps (False where the program calls memtrace.step() by itself); every_s: the recording
    is read for the numbers at most so often, and at the end; all_ranks: also in ranks other than 0."""

    def __init__(self, every_s: float = EVERY_S, steps: bool = True, all_ranks: bool = False):
        self._every_s = every_s
        self._steps = steps
        self._all_ranks = all_ranks
        self._pace = Pace(every_s)
        self._phases = PhaseStack()
        self._updates = 0

    def on_train_start(self, trainer, pl_module):
        self._phases.end_all()
        self._pace = Pace(self._every_s)
        self._updates = trainer.global_step

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self._phases.begin(STEP)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self._phases.end(STEP)
        # Batches whose gradients are only accumulated end no step, and two optimizers make one.
        if self._steps and trainer.global_step != self._updates:
            memtrace.step()
        self._updates = trainer.global_step
        if self._pace.is_due():
            self._log(trainer)

    def on_train_end(self, trainer, pl_module):
        self._phases.end_all()
        self._log(trainer)

    @quietly("giving memtrace's numbers to the loggers")
    def _log(self, trainer):
        if not (self._all_ranks or trainer.is_global_zero):
            return
        found = scalars()
        self._pace.put_off()
        if not found:
            return
        for logger in trainer.loggers:
            logger.log_metrics(found, step=trainer.global_step)
            logger.save()

    def on_validation_start(self, trainer, pl_module):
        self._phases.begin(VALIDATION)

    def on_validation_end(self, trainer, pl_module):
        self._phases.end(VALIDATION)

    def on_test_start(self, trainer, pl_module):
        self._phases.begin(TEST)

    def on_test_end(self, trainer, pl_module):
        self._phases.end(TEST)

    def on_predict_start(self, trainer, pl_module):
        self._phases.begin(PREDICTION)

    def on_predict_end(self, trainer, pl_module):
        self._phases.end(PREDICTION)

    def on_exception(self, trainer, pl_module, exception):
        self._phases.end_all()
