# SPDX-License-Identifier: Apache-2.0
"""transformers: marks a Trainer's steps and phases, and adds memtrace's numbers to what it logs.

    trainer = Trainer(model=model, args=arguments, train_dataset=data)
    MemtraceCallback().attach(trainer)
    trainer.train()
"""

from __future__ import annotations

import memtrace
from memtrace.integrations._quiet import missing, quietly, say_once
from memtrace.integrations.scalars import EVERY_S, Pace, PhaseStack, scalars

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise missing(__name__, "transformers") from error

STEP, EVALUATION, SAVING = "train step", "evaluation", "saving"


class MemtraceCallback(TrainerCallback):
    """`attach` puts it where trackers see its numbers; in `callbacks=[…]` they reach `log_history` alone.

    steps       mark the Trainer's steps; False where the program calls memtrace.step() by itself
    every_s     the recording is read for the numbers at most so often, and at the end of a training
    all_ranks   log in each rank, not in the main one alone
    """

    def __init__(self, every_s: float = EVERY_S, steps: bool = True, all_ranks: bool = False):
        self._every_s = every_s
        self._steps = steps
        self._all_ranks = all_ranks
        self._pace = Pace(every_s)
        self._phases = PhaseStack()
        self._added = None

    @quietly("attaching memtrace to the trainer")
    def attach(self, trainer) -> None:
        """Numbers are added before any tracker logs, phases begin after every callback has decided.

        A tracker logs what it is given when its turn comes, and callbacks that a program names come
        after the trackers. What begins after a step, an evaluation or a checkpoint, is known only
        when the last callback has had its turn.
        """
        callbacks = trainer.callback_handler.callbacks
        if any(isinstance(one, MemtraceCallback) for one in callbacks):
            say_once("this trainer has a MemtraceCallback already; one is enough")
            return
        callbacks.insert(0, _Early(self))
        callbacks.append(self)

    # Events of the Trainer; what they return nothing for, they do not change.

    def on_train_begin(self, args, state, control, **others):
        self._phases.end_all()  # of a training that an exception ended
        self._pace = Pace(self._every_s)

    def on_step_begin(self, args, state, control, **others):
        self._phases.end_all()
        self._phases.begin(STEP)

    def on_step_end(self, args, state, control, **others):
        self._phases.end(STEP)
        if self._steps:
            memtrace.step()
        self._begin_next(control)

    def on_epoch_end(self, args, state, control, **others):
        self._phases.end_all()  # a step whose last batches gave no update
        self._begin_next(control)

    def _begin_next(self, control):
        if control.should_evaluate:
            self._phases.begin(EVALUATION)
        elif control.should_save:
            self._phases.begin(SAVING)

    def on_prediction_step(self, args, state, control, **others):
        # No event says that an evaluation begins which the program asked for by itself.
        if self._phases.innermost() != EVALUATION:
            self._phases.begin(EVALUATION)

    def on_evaluate(self, args, state, control, **others):
        self._phases.end(EVALUATION)
        if control.should_save and state.global_step > 0:
            self._phases.begin(SAVING)

    def on_predict(self, args, state, control, **others):
        self._phases.end(EVALUATION)

    def on_save(self, args, state, control, **others):
        self._phases.end(SAVING)

    def on_train_end(self, args, state, control, **others):
        self._phases.end_all()

    def on_log(self, args, state, control, logs=None, **others):
        self._add(state, logs)

    @quietly("adding memtrace's numbers to the log")
    def _add(self, state, logs):
        if not isinstance(logs, dict) or logs is self._added:
            return
        if not (self._all_ranks or state.is_world_process_zero):
            return
        at_the_end = "train_runtime" in logs  # what the Trainer logs last, before on_train_end
        if not (self._pace.is_due() or at_the_end):
            return
        found = scalars()
        self._pace.put_off()
        self._added = logs
        logs.update(found)
        # The Trainer wrote its history before it asked the callbacks, with a copy.
        if state.log_history and state.log_history[-1].get("step") == state.global_step:
            state.log_history[-1].update(found)


class _Early(TrainerCallback):
    """The callback's ear at the front of the list."""

    def __init__(self, callback: MemtraceCallback):
        self._callback = callback

    def on_log(self, args, state, control, logs=None, **others):
        self._callback.on_log(args, state, control, logs=logs)
