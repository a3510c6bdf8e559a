# SPDX-License-Identifier: Apache-2.0
"""The operations of a run on the allocator, as short lists, and how this process performs them.

["alloc", name, bytes, stream]   a tensor          ["raw", name, bytes, stream]  raw memory
["free", name]                                     ["record", name, stream]      record_stream
["work", stream, microseconds]   keeps the stream busy, so that events recorded there are late
["synchronize"]                  ["empty_cache"]   ["settings", text]            ["fraction", value]
["pool", name, options]          makes a MemPool   ["begin", name]  ["end"]      ["drop", name]
["capture", name, stream]        a CUDA graph      ["captured"]                  ["drop", name]
["foreign", name, bytes]         memory of the device that is not PyTorch's
["forget", name]                 gives it back

An operation that makes no sense where it stands (a free of what was refused) does nothing, so that
any part of a list is a run, too.
"""

import collections
import ctypes

import torch

WORK_BUFFER = 4 << 20  # bytes, copied to keep a stream busy
LINK_BYTES_PER_US = 25_000  # simulator/core/clock.h
HOST_TO_DEVICE = 1
# A run that is out of memory all the time tells nothing more.
MOST_OUT_OF_MEMORY = 60
EXPANDABLE = "expandable_segments:True"


class Machine:
    """The operations, done by the real allocator."""

    def __init__(self, streams: int, settings: str):
        torch.cuda.init()
        self.expands = EXPANDABLE in settings
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.side = [torch.cuda.default_stream()]
        self.side += [torch.cuda.Stream() for _ in range(streams - 1)]
        self.current = 0
        self.tensors: dict = {}
        self.raw: dict = {}
        self.foreign: dict = {}
        self.pools: dict = {}
        self.pool_of: dict = {}  # of what is alive in a pool
        self.inside: list = []  # the pool that allocations go to, and the context manager
        self.capturing = None
        self.counts = collections.Counter()
        # Memory of the device that is not PyTorch's is taken before PyTorch's first segment: the
        # context (segments that expand are made without one) and this.
        self.runtime.cudaFree(None)
        self.buffer = self.device_memory(WORK_BUFFER)
        self.pinned = ctypes.c_void_p()
        self.runtime.cudaMallocHost(ctypes.byref(self.pinned), ctypes.c_size_t(WORK_BUFFER))

    def perform(self, operations: list) -> None:
        actions = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}
        for what, *arguments in operations:
            if self.counts["out of memory"] >= MOST_OUT_OF_MEMORY:
                break
            try:
                actions[what](*arguments)
            except torch.OutOfMemoryError:
                self.counts["out of memory"] += 1
            except (RuntimeError, ValueError) as error:
                self.counts[f"{what}: {str(error).splitlines()[0][:150]}"] += 1

    def on(self, stream: int) -> None:
        if self.capturing is not None:
            return
        if stream != self.current:
            torch.cuda.set_stream(self.side[stream])
            self.current = stream

    def do_alloc(self, name, size, stream):
        self.on(stream)
        self.tensors[name] = torch.empty(size, dtype=torch.uint8, device="cuda")
        if self.inside:
            self.pool_of[name] = self.inside[0]

    def do_raw(self, name, size, stream):
        handle = self.side[stream].cuda_stream
        self.raw[name] = torch._C._cuda_cudaCachingAllocator_raw_alloc(size, handle)
        if self.inside:
            self.pool_of[name] = self.inside[0]

    def do_free(self, name):
        self.tensors.pop(name, None)
        self.pool_of.pop(name, None)
        address = self.raw.pop(name, None)
        if address is not None:
            torch._C._cuda_cudaCachingAllocator_raw_delete(address)

    def do_record(self, name, stream):
        if name in self.tensors:
            self.tensors[name].record_stream(self.side[stream])

    def do_work(self, stream, microseconds):
        if self.capturing is not None:
            return
        size = min(int(microseconds * LINK_BYTES_PER_US), WORK_BUFFER)
        self.runtime.cudaMemcpyAsync(
            ctypes.c_void_p(self.buffer), self.pinned, ctypes.c_size_t(size), HOST_TO_DEVICE,
            ctypes.c_void_p(self.side[stream].cuda_stream))

    def do_synchronize(self):
        if self.capturing is None:
            torch.cuda.synchronize()

    def do_empty_cache(self):
        torch.cuda.empty_cache()

    def do_settings(self, text):
        self.expands |= EXPANDABLE in text
        torch.cuda.memory._set_allocator_settings(text)

    def do_fraction(self, value):
        torch.cuda.set_per_process_memory_fraction(value)

    def do_pool(self, name, options):
        self.pools[name] = torch.cuda.MemPool(**options)

    def do_begin(self, name):
        if name in self.pools and not self.inside and self.capturing is None:
            self.inside = [name, torch.cuda.use_mem_pool(self.pools[name])]
            self.inside[1].__enter__()

    def do_end(self):
        if self.inside:
            _, context = self.inside
            self.inside = []
            context.__exit__(None, None, None)

    def do_capture(self, name, stream):
        if self.capturing is not None or self.inside or stream == 0:
            return
        self.on(stream)
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode="relaxed")
        self.capturing = name, graph

    def do_captured(self):
        if self.capturing is not None:
            name, graph = self.capturing
            self.capturing = None
            graph.capture_end()
            self.pools[name] = graph

    def do_drop(self, name):
        # PyTorch 2.11 crashes later when a pool goes before its blocks in expandable segments.
        if not self.inside and not (self.expands and name in self.pool_of.values()):
            self.pools.pop(name, None)

    def do_foreign(self, name, size):
        address = self.device_memory(size)
        if address:
            self.foreign[name] = address

    def do_forget(self, name):
        address = self.foreign.pop(name, None)
        if address:
            self.runtime.cudaFree(ctypes.c_void_p(address))

    def device_memory(self, size: int) -> int | None:
        address = ctypes.c_void_p()
        failed = self.runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size))
        if failed:
            self.runtime.cudaGetLastError()
        return None if failed else address.value
