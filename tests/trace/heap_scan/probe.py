# SPDX-License-Identifier: Apache-2.0
"""The census through ctypes, without PyTorch: `Held` stands for a tensor with memory of its own."""
import ctypes


class Held:
    """Has a __dict__, as torch.Tensor has; what it does to be looked at from outside is an error."""


class Probe:
    def __init__(self, path):
        self.library = ctypes.PyDLL(path)  # calls with the GIL held
        self.library.probe_heap_scan.argtypes = [ctypes.c_ulong] * 3 + [ctypes.c_int]
        self.library.probe_check_objects.argtypes = [ctypes.c_uint, ctypes.c_int, ctypes.py_object]
        self.library.probe_rows.restype = ctypes.c_void_p
        self.library.probe_name_of.argtypes = [ctypes.py_object, ctypes.c_ulong, ctypes.c_void_p]
        self.library.probe_name_of.restype = ctypes.c_void_p
        self.library.probe_objects.restype = ctypes.c_ulong
        self.library.probe_cpu_seconds.restype = ctypes.c_double
        self.check_objects()  # a scan comes after it, in traced programs too

    def take(self, held=Held, allocated=0, most_objects=2_000_000, in_time=False):
        """`in_time`: with the limit that a census has, otherwise with one of a minute."""
        self.library.probe_heap_scan(id(held), allocated, most_objects, in_time)

    def check_objects(self, which=None, by=0):
        """Whether objects are where they should be: True, or False, if that offset is wrong by so
        many bytes. None: this Python does not have the offset. Numbers end with a LookupError."""
        if which is None:
            which = 1  # every Python has it
        answer = self.library.probe_check_objects(which, by, lambda code: None)
        if answer == -2:
            raise LookupError(which)
        return None if answer == -1 else bool(answer)

    def rows(self):
        """{address: (name, container, length, owner, file, line, holder, numbers, levels, classes, flags)} of the last one."""
        size = ctypes.c_ulong()
        data = self.library.probe_rows(ctypes.byref(size))
        fields = ctypes.string_at(data, size.value).decode().split("\0")[:-1]
        found = {}
        for i in range(0, len(fields), 4):
            detail = fields[i + 2].split("\x1f")
            found[int(fields[i])] = (fields[i + 1], *detail, int(fields[i + 3]))
        return found

    def name_of(self, thing, held=Held):
        """[path, owner, file, line, holder, is_tensor]; None: no name leads to it."""
        size = ctypes.c_ulong()
        data = self.library.probe_name_of(thing, id(held), ctypes.byref(size))
        return data and ctypes.string_at(data, size.value).decode().split("\0")[:-1]

    def objects(self):
        return self.library.probe_objects()

    def is_incomplete(self):
        return bool(self.library.probe_is_incomplete())

    def cpu_seconds(self):
        return self.library.probe_cpu_seconds()
