# SPDX-License-Identifier: Apache-2.0
"""Lets a Python program tell memtrace about itself.

    import memtrace

    with memtrace.phase("evaluation"):      # or @memtrace.phase("evaluation")
        evaluate(model)
    memtrace.step()
    memtrace.annotate(cache, "kv_cache", "request 7")
    memtrace.counter("tokens", batch.numel())
    memtrace.expect_growth(self.history, "plotted at the end")
    memtrace.census()

Where libmemtrace.so is not preloaded, or MEMTRACE_DISABLE is set, all of it does nothing, and the first
call says so on the standard error, unless that was asked for (MEMTRACE_DISABLE, MEMTRACE_LOG=quiet). None
of these raises but for arguments of a wrong type. In what torch.compile compiles calls have no effect,
and change nothing.

And what was recorded:

    report = memtrace.report()              # of this process up to now; report(path) of a recording
    print(report.devices[0].peak_allocated_bytes)
    blocks = memtrace.read("traces").blocks()

And what would fit, tried on simulated GPUs:

    memtrace.fit("train:main", ["rtx3090", "a100-40"]).batch("rtx3090")
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtrace._fit import Fit
    from memtrace._read import Recording
    from memtrace._report import Report
    from memtrace._tool import ToolFailed, ToolMissing

__all__ = ["Fit", "Recording", "Report", "ToolFailed", "ToolMissing", "annotate", "census", "counter", "fit",
           "expect_growth", "is_active", "phase", "read", "report", "start", "step", "stop"]

# The modules that read recordings are imported when they are first used: a training may never do.
_LATER = {"Fit": "_fit", "Recording": "_read", "Report": "_report", "ToolFailed": "_tool", "ToolMissing": "_tool"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'memtrace' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"memtrace.{_LATER[name]}"), name)


def _find_library():
    """The functions of the library where it is in this process, or None."""
    try:
        import ctypes

        # Without releasing the GIL: a call takes less than that would.
        library = ctypes.PyDLL(None)
        text, number, nothing = ctypes.c_char_p, ctypes.c_double, None
        for name, result, arguments in (
            ("is_active", ctypes.c_int, []),
            ("phase_begin", nothing, [text]),
            ("phase_end", nothing, []),
            ("step", nothing, [text]),
            ("census", nothing, []),
            ("annotate", nothing, [ctypes.c_void_p, text, text]),
            ("counter", nothing, [text, number]),
            ("expect_growth", nothing, [text, text, text, ctypes.c_uint]),
            ("expect_growth_of", nothing, [ctypes.c_void_p, text, text, ctypes.c_uint]),
            ("trace_path", ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]),
            ("stop", nothing, []),
        ):
            function = getattr(library, f"memtrace_{name}")
            function.restype = result
            function.argtypes = arguments
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    return library if library.memtrace_is_active() else None


_library = _find_library()
_has_said = False
_is_over = False  # by stop()


def _say_that_nothing_is_recorded() -> None:
    """Once a process: a call that has no effect is easily taken for one that has."""
    global _has_said
    if _has_said:
        return
    _has_said = True
    wanted = os.environ.get("MEMTRACE_DISABLE", "0") not in ("", "0")
    if not wanted and os.environ.get("MEMTRACE_LOG") not in ("quiet", "off"):
        print("memtrace: this process is not recorded, so calls of the package memtrace have no effect; start it "
              "with memtrace run -- python …, or with LD_PRELOAD=$(memtrace path)", file=sys.stderr)


def _listens() -> bool:
    """Whether calls have an effect here: memtrace is there, and torch.compile is not at work."""
    if _library is None:
        if not _has_said:
            _say_that_nothing_is_recorded()
        return False
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", None)
    return is_compiling is None or not is_compiling()


def _bytes(text, what: str, optional: bool = False) -> bytes | None:
    if text is None and optional:
        return None
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    return text.replace("\0", " ").encode("utf-8", "replace")


def _check_memory(memory) -> None:
    known = isinstance(memory, int) or hasattr(memory, "untyped_storage")
    if not known and not hasattr(type(memory), "__cuda_array_interface__"):
        raise TypeError(f"a tensor or an address is needed, not {type(memory).__name__}")


def _address(memory) -> int:
    """Where the memory of a tensor's storage begins; 0 for one without memory on a GPU."""
    if isinstance(memory, int):
        return memory
    try:
        if hasattr(memory, "untyped_storage"):
            return memory.untyped_storage().data_ptr() if memory.is_cuda else 0
        return memory.__cuda_array_interface__["data"][0]
    except Exception:  # a tensor that stands for one: fake, functional, freed
        return 0


def is_active() -> bool:
    """Whether the calls below have an effect."""
    return _library is not None


def start(output=None) -> str | None:
    """Records from here on, in a process that was started without memtrace: a notebook whose model is on the GPU
    already, a service. Returns where the trace is; None while CUDA was not used yet.

    What PyTorch's allocator has by now is in the trace without the lines that allocated it; of all that follows is
    known what memtrace run records. `output`: the folder of the trace (default: MEMTRACE_OUTPUT, else the working
    directory). In a process that is recorded already this changes nothing. Raises ToolMissing, and RuntimeError where
    it cannot be: after stop(), where the folder cannot be written to, where the library cannot be loaded any more.
    """
    global _library
    if _library is None:
        from memtrace import _start

        if _is_over:
            raise RuntimeError("this process was recorded until memtrace.stop(), and cannot be recorded again")
        _start.load(output)
        _library = _find_library()
    return _own_trace()


def stop() -> str | None:
    """Ends the recording, and returns where it is: whole, as if the process had ended here. It cannot be begun again
    in this process. What is called from here on has no effect."""
    global _library, _has_said, _is_over
    path = _own_trace()
    if _library is not None:
        _library.memtrace_stop()
        _library, _has_said, _is_over = None, True, True
    return path


class phase:  # noqa: N801 - used as `with memtrace.phase(…)`
    """A stretch of this thread's work, as a context manager or a decorator; phases nest."""

    def __init__(self, name: str):
        self._name = name
        self._text = _bytes(name, "a phase's name")

    def __call__(self, function):
        name = self._name

        @functools.wraps(function)
        def in_phase(*arguments, **named):
            with phase(name):
                return function(*arguments, **named)

        return in_phase

    def __enter__(self) -> phase:
        if _listens():
            _library.memtrace_phase_begin(self._text)
        return self

    def __exit__(self, *exception) -> bool:
        if _listens():
            _library.memtrace_phase_end()
        return False


def step(name: str | None = None) -> None:
    """A training step, or a request, has ended."""
    text = _bytes(name, "a step's name", optional=True)
    if _listens():
        _library.memtrace_step(text)


def census() -> None:
    """Look now what keeps each GPU storage alive.

    Memory that grows from one census to the next is what leaks. memtrace takes censuses by itself;
    this is for places that it cannot know.
    """
    if _listens():
        _library.memtrace_census()


def annotate(memory, category: str, name: str | None = None) -> None:
    """Say what the memory of a tensor, or at an address, is until it is freed.

    `category` is one of the report's (weights, buffers, gradients, optimizer_states, activations,
    inputs, outputs, kv_cache, collected, workspace, temporaries, other) or a word of your own. A view stands for the
    whole storage. Tensors on the CPU have no effect.
    """
    what = _bytes(category, "a category")
    text = _bytes(name, "a name", optional=True)
    _check_memory(memory)
    if _listens():
        _library.memtrace_annotate(_address(memory), what, text)


def counter(name: str, value: float) -> None:
    """A number that changes over time."""
    text = _bytes(name, "a counter's name")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise TypeError(f"a counter's value must be a number, not {value!r}") from None
    if _listens():
        _library.memtrace_counter(text, number)


def expect_growth(thing, why: str) -> None:
    """Say that memory may pile up there: what grows because of it is no leak, and the report says why.

    `thing` is the container, the tensor, or whatever else keeps the memory: what a census calls it now (a
    variable, or an attribute of any object of its class) may keep ever more from here on, also after it has been
    given another object. Or a str, as the report writes it: "self.outputs", "Trainer.outputs", "train.py:31"; * and
    ? stand for any letters. Nothing is kept alive. Once is enough; it may be said before the GPU is used.
    """
    text = _bytes(why, "why growth is expected")
    if not _listens():
        return
    caller = sys._getframe(1)
    place = _bytes(caller.f_code.co_filename, "a file"), caller.f_lineno or 0
    del caller
    # No attribute of the thing is asked for: it may run code.
    if issubclass(type(thing), str):
        _library.memtrace_expect_growth(_bytes(str.__str__(thing), "what is expected"), text, *place)
    else:
        # As a py_object ctypes would ask for its class.
        _library.memtrace_expect_growth_of(id(thing), text, *place)


def _own_trace() -> str | None:
    """Where this process's trace is; None while it has none: it did not use CUDA yet."""
    import ctypes

    if _library is None:
        return None
    size = _library.memtrace_trace_path(None, 0)
    if size == 0:
        return None
    text = ctypes.create_string_buffer(size + 1)
    _library.memtrace_trace_path(text, len(text))
    return os.fsdecode(text.value)


def report(path=None) -> Report | None:
    """The content of `memtrace report --json`, with the names of its JSON Schema as attributes.

    Of this process up to now; None where it is not recorded or has not used CUDA yet. Or of a recording:
    a trace, a list of them, or a directory. The recording is read by the memtrace command, which takes
    longer the longer the recording is (1.5 s after 1,000 steps), so not at every step. Raises
    FileNotFoundError, memtrace.ToolMissing and memtrace.ToolFailed.
    """
    if path is None:
        path = _own_trace()
        if path is None:
            if _library is None:
                _say_that_nothing_is_recorded()
            return None
    from memtrace import _report

    return _report.of([path] if isinstance(path, (str, os.PathLike)) else path)


def read(path) -> Recording:
    """A recording (a trace, a list of them, a directory) with its report and tables of it."""
    from memtrace import _read

    return _read.read(path)


def fit(what, gpus, **how) -> Fit:
    """The largest batch with which `what` fits each GPU, by dry runs on simulated ones.

    `what` is called with a batch size, and a length where `lengths` are given, in a process of its own for
    each value: a function, "module:function" or "file.py:function". A function of a notebook needs
    cloudpickle. `how`: lengths, max_batch, multiple, budget ("10m"), jobs, options (more of `memtrace
    fit`). Raises ToolMissing, ToolFailed, and ValueError where the function cannot be found by a new process.
    """
    from memtrace import _fit

    return _fit.run(what, gpus, **how)


def load_ipython_extension(shell) -> None:
    """%load_ext memtrace: the cell magic %%memtrace."""
    from memtrace.integrations import jupyter

    jupyter.load(shell)
