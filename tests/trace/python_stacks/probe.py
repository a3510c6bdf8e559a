# SPDX-License-Identifier: Apache-2.0
"""The probe library through ctypes, with and without the GIL, and what Python itself says."""
import ctypes
import sys


class Probe:
    def __init__(self, path):
        self.holding = ctypes.PyDLL(path)  # calls with the GIL held
        self.released = ctypes.CDLL(path)  # calls with the GIL released
        for library in (self.holding, self.released):
            library.probe_capture.restype = ctypes.c_uint
            library.probe_cost.restype = ctypes.c_double
            library.probe_cost_of_one.restype = ctypes.c_double
            library.probe_interned.restype = ctypes.c_ulong
            library.probe_news.restype = ctypes.c_char_p
            library.probe_version.restype = ctypes.c_char_p
            library.probe_text.restype = ctypes.c_void_p
            library.probe_watch_module_call.argtypes = [ctypes.c_ulong, ctypes.c_uint, ctypes.c_int]
            library.probe_text.argtypes = [ctypes.c_uint, ctypes.POINTER(ctypes.c_ulong)]
        self.capture = self.holding.probe_capture
        self.capture_released = self.released.probe_capture
        self._known = {}

    def frames(self, stack):
        """[(file, function, line)] of a stack id, innermost first."""
        if stack not in self._known:
            size = ctypes.c_ulong()
            data = self.holding.probe_text(stack, ctypes.byref(size))
            fields = ctypes.string_at(data, size.value).split(b"\0")[:-1]
            fields = [field.decode("utf-8", "surrogateescape") for field in fields]
            self._known[stack] = [
                (fields[i], fields[i + 1], int(fields[i + 2])) for i in range(0, len(fields), 3)
            ]
        return self._known[stack]

    def modules(self, released=False):
        """The addresses of the innermost and the outermost module that run here."""
        library = self.released if released else self.holding
        innermost, outermost = ctypes.c_ulong(), ctypes.c_ulong()
        library.probe_modules(ctypes.byref(innermost), ctypes.byref(outermost))
        return innermost.value, outermost.value

    def news(self):
        told = self.holding.probe_news()
        return told and told.decode()

    def wait_until_checked(self):
        """The result of the check against this interpreter."""
        for _ in range(1000):
            self.capture()
            news = self.news()
            if news is not None:
                return news
        return "never checked"


def python_frames(frame, first_line):
    """The same from the interpreter: `frame` and its callers; first_line stands for its line."""
    rows = []
    line = first_line
    while frame is not None:
        code = frame.f_code
        rows.append((code.co_filename, code.co_name, frame.f_lineno if line is None else line))
        line = None
        frame = frame.f_back
    return rows


class Comparison:
    """Counts the captures that equal Python's own answer, and keeps the first that do not."""

    def __init__(self, probe):
        self.capture = probe.capture
        self.capture_released = probe.capture_released
        self.probe = probe
        self.count = 0
        self.wrong = []
        self._line = Comparison.__call__.__code__.co_firstlineno

    def __call__(self):
        first, again, frame = self.capture(), self.capture_released(), sys._getframe()
        expected = python_frames(frame, self._line + 1)
        for stack in (first, again):
            self.count += 1
            ours = self.probe.frames(stack)
            if ours != expected and len(self.wrong) < 5:
                self.wrong.append({"ours": ours[:8], "python": expected[:8],
                                   "depths": [len(ours), len(expected)]})
        return True
