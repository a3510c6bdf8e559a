# SPDX-License-Identifier: Apache-2.0
"""What a Python program tells memtrace about itself.

    import memtrace

    with memtrace.phase("evaluation"):      # or @memtrace.phase("evaluation")
        evaluate(model)
    memtrace.step()
    memtrace.annotate(cache, "other", "key-value cache")
    memtrace.counter("tokens", batch.numel())
    memtrace.census()

Where libmemtrace.so is not preloaded, or MEMTRACE_DISABLE is set, all of it does nothing. Nothing
here raises but for arguments of a wrong type. In what torch.compile compiles calls have no effect,
and change nothing.
"""

from __future__ import annotations

import functools
import sys

__all__ = ["annotate", "census", "counter", "is_active", "phase", "step"]


def _find_library():
    """The functions of the preloaded library, or None."""
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
        ):
            function = getattr(library, f"memtrace_{name}")
            function.restype = result
            function.argtypes = arguments
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    return library if library.memtrace_is_active() else None


_library = _find_library()


def _listens() -> bool:
    """Whether calls have an effect here: memtrace is there, and torch.compile is not at work."""
    if _library is None:
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
    inputs, outputs, workspace, temporaries, other) or a word of your own. A view stands for the
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


def load_ipython_extension(shell) -> None:
    """%load_ext memtrace: the cell magic %%memtrace."""
    from memtrace.integrations import jupyter

    jupyter.load(shell)
