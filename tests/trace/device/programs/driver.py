# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver by ctypes: what the programs of this folder share. Starts without PyTorch."""

import ctypes
import time

MIB = 1 << 20
_cuda = ctypes.CDLL("libcuda.so.1")


class AllocationProperties(ctypes.Structure):
    """CUmemAllocationProp"""

    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location_type", ctypes.c_int),
                ("location_id", ctypes.c_int), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class PoolProperties(ctypes.Structure):
    """CUmemPoolProps"""

    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location_type", ctypes.c_int),
                ("location_id", ctypes.c_int), ("security", ctypes.c_void_p), ("max_size", ctypes.c_size_t),
                ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 54)]


class ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY_DESCRIPTOR_v2"""

    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("format", ctypes.c_int),
                ("channels", ctypes.c_uint)]


def error_of(name: str, *arguments) -> int:
    return getattr(_cuda, name)(*arguments)


def call(name: str, *arguments) -> None:
    error = error_of(name, *arguments)
    assert error == 0, f"{name}: error {error}"


def out(name: str, *arguments, kind=ctypes.c_uint64) -> int:
    """The value that the call writes to its first parameter."""
    value = kind()
    call(name, ctypes.byref(value), *arguments)
    return value.value or 0


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def address(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def begin(device: int = 0) -> int:
    """Initialises CUDA; the device's own context is current then."""
    call("cuInit", 0)
    context = out("cuDevicePrimaryCtxRetain", device, kind=ctypes.c_void_p)
    call("cuCtxSetCurrent", ctypes.c_void_p(context))
    return context


def allocate(bytes_: int) -> int:
    return out("cuMemAlloc_v2", size(bytes_))


def release(pointer: int) -> None:
    call("cuMemFree_v2", address(pointer))


def used() -> int:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return total.value - free.value


def let_it_look() -> None:
    """At other processes, in a thread of its own: what is known of them comes a little later."""
    time.sleep(0.5)


def physical(bytes_: int, device: int = 0) -> int:
    pinned, on_device = 1, 1
    wanted = AllocationProperties(type=pinned, location_type=on_device, location_id=device)
    return out("cuMemCreate", size(bytes_), ctypes.byref(wanted), ctypes.c_ulonglong(0))


def pool(device: int = 0) -> int:
    pinned, on_device = 1, 1
    wanted = PoolProperties(type=pinned, location_type=on_device, location_id=device)
    return out("cuMemPoolCreate", ctypes.byref(wanted), kind=ctypes.c_void_p)


def array(width: int, height: int) -> int:
    """An array of floats."""
    float_format = 0x20
    wanted = ArrayDescriptor(width, height, float_format, 1)
    return out("cuArrayCreate_v2", ctypes.byref(wanted), kind=ctypes.c_void_p)
