# SPDX-License-Identifier: Apache-2.0
"""The census through ctypes, without PyTorch: `Held` stands for a tensor with memory of its own."""
import ctypes


class Held:
    """Has a __dict__, as torch.Tensor has; what it does to be looked at from outside is an error."""


class Probe:
    def __init__(self, path):
        self.library = ctypes.PyDLL(path)  # calls with the GIL held
        self.library.probe_census.argtypes = [ctypes.c_ulong] * 3
        self.library.probe_rows.restype = ctypes.c_void_p
        self.library.probe_objects.restype = ctypes.c_ulong
        self.library.probe_cpu_seconds.restype = ctypes.c_double

    def take(self, held=Held, allocated=0, most_objects=2_000_000):
        self.library.probe_census(id(held), allocated, most_objects)

    def rows(self):
        """{address: (name, container, length, owner, file, line, holder, flags)} of the last one."""
        size = ctypes.c_ulong()
        data = self.library.probe_rows(ctypes.byref(size))
        fields = ctypes.string_at(data, size.value).decode().split("\0")[:-1]
        found = {}
        for i in range(0, len(fields), 4):
            detail = fields[i + 2].split("\x1f")
            found[int(fields[i])] = (fields[i + 1], *detail, int(fields[i + 3]))
        return found

    def objects(self):
        return self.library.probe_objects()

    def is_incomplete(self):
        return bool(self.library.probe_is_incomplete())

    def cpu_seconds(self):
        return self.library.probe_cpu_seconds()
