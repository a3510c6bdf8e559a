# SPDX-License-Identifier: Apache-2.0
"""A training goes on whatever memtrace meets: a failure is one sentence, said once a process."""

from __future__ import annotations

import functools
import logging

_log = logging.getLogger("memtrace")
_said = set()


def say_once(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        _log.warning("memtrace: %s", sentence)


def quietly(what: str, otherwise=None):
    """Turns exceptions of the decorated function into one sentence and what `otherwise` makes."""

    def decorate(function):
        @functools.wraps(function)
        def guarded(*arguments, **named):
            try:
                return function(*arguments, **named)
            except Exception as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                say_once(f"{what} failed, and the program goes on without it: {reason}")
                return otherwise() if otherwise else None

        return guarded

    return decorate


def missing(module: str, package: str) -> ImportError:
    return ImportError(f"{module} needs {package}, which is not installed here: pip install {package}")
