# SPDX-License-Identifier: Apache-2.0
"""One kind of device memory, given as argument, so that it is the most that is ever in use; prints
what the driver says is in use then."""

import ctypes
import sys

import driver
from driver import MIB, address, call, out, size


def plain():
    for bytes_ in (512, 1 * MIB - 1, 3 * MIB, 700):
        driver.allocate(bytes_)
    gone = driver.allocate(5 * MIB)
    driver.release(gone)
    driver.allocate(7 * MIB)


def virtual():
    """Three pieces of which one is released and unmapped, one released but mapped, one only made."""
    handles = [driver.physical(4 * MIB) for _ in range(3)]
    room = out("cuMemAddressReserve", size(64 * MIB), size(0), address(0), ctypes.c_ulonglong(0))
    for i in range(2):
        call("cuMemMap", address(room + i * 4 * MIB), size(4 * MIB), size(0), address(handles[i]),
             ctypes.c_ulonglong(0))
        call("cuMemRelease", address(handles[i]))
    call("cuMemUnmap", address(room), size(4 * MIB))
    driver.physical(16 * MIB)


def pools():
    """The device's pool, and one of the program's own, half of which is freed."""
    own = driver.pool()
    none = ctypes.c_void_p(0)
    first = out("cuMemAllocAsync", size(3 * MIB), none)
    out("cuMemAllocAsync", size(40 * MIB), none)
    out("cuMemAllocFromPoolAsync", size(50 * MIB), ctypes.c_void_p(own), none)
    call("cuMemFreeAsync", address(first), none)
    out("cuMemAllocFromPoolAsync", size(90 * MIB), ctypes.c_void_p(own), none)


def contexts():
    """Memory of a second context, which ends; then a third one with more."""
    driver.allocate(6 * MIB)
    second = out("cuCtxCreate_v2", 0, 0, kind=ctypes.c_void_p)
    driver.allocate(30 * MIB)
    call("cuCtxDestroy_v2", ctypes.c_void_p(second))
    out("cuCtxCreate_v2", 0, 0, kind=ctypes.c_void_p)
    driver.allocate(60 * MIB)


def refused():
    """The device's own context cannot be destroyed: the attempt changes nothing."""
    driver.allocate(6 * MIB)
    own = driver.begin()
    assert driver.error_of("cuCtxDestroy_v2", ctypes.c_void_p(own)) != 0
    driver.allocate(40 * MIB)


def reset():
    """Memory that was there before the device's own context was reset is gone."""
    driver.allocate(20 * MIB)
    call("cuDevicePrimaryCtxReset_v2", 0)
    driver.begin()
    driver.allocate(120 * MIB)


def arrays():
    gone = driver.array(1024, 1024)
    driver.array(2048, 1024)
    driver.array(16, 16)
    call("cuArrayDestroy", ctypes.c_void_p(gone))
    driver.array(2048, 2048)


def managed():
    """Lies on no device that anybody could name."""
    out("cuMemAllocManaged", size(64 * MIB), 1)
    driver.allocate(2 * MIB)


KINDS = {one.__name__: one for one in (plain, virtual, pools, contexts, refused, reset, arrays, managed)}

if __name__ == "__main__":
    driver.begin()
    KINDS[sys.argv[1]]()
    print(driver.used())
    driver.let_it_look()
