# SPDX-License-Identifier: Apache-2.0
"""Some ranks of a world, run as if all were there: `memtrace dry-run --world-size 512 --ranks 0,511`.

Lies before the program as its sitecustomize.py. The ranks that run meet as ever; one that does not is
taken for one that does what this rank does. With NCCL the simulator plays it
(simulator/libraries/nccl_exchange.h), which is told here who runs of each group; with Gloo, whose ranks
connect to each other, PyTorch's own fake group does. What ranks wait for in the store is there already.
"""

import functools
import inspect
import os
import pickle
import sys
from importlib import machinery, util

RUNNING = [int(rank) for rank in os.environ.get("MEMTRACE_SIM_RANKS", "").split(",") if rank]
DISTRIBUTED = "torch.distributed.distributed_c10d"


class Finder:
    """Calls `play` once PyTorch's module is there."""

    def find_spec(self, name, path, target=None):
        if name != DISTRIBUTED:
            return None
        sys.meta_path.remove(self)
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                play(module)

            spec.loader.exec_module = exec_module
        return spec


def play(c10d):
    from torch._C._distributed_c10d import TCPStore

    meet(TCPStore, int(os.environ["RANK"]))
    if hasattr(c10d, "ProcessGroupNCCL"):
        tell_who_runs(c10d.ProcessGroupNCCL)
    if hasattr(c10d, "ProcessGroupGloo"):
        c10d.ProcessGroupGloo = fake_group()
    if hasattr(c10d, "split_group"):
        c10d.split_group = split_by_name(c10d)
    for name in ("send", "recv", "isend", "irecv"):
        setattr(c10d, name, naming_its_peer(c10d, getattr(c10d, name)))
    # All others have passed it.
    c10d._store_based_barrier = lambda *arguments, **named: None
    objects = c10d._tensor_to_object

    def _tensor_to_object(tensor, tensor_size, group):
        try:
            return objects(tensor, tensor_size, group)
        except (EOFError, pickle.UnpicklingError) as error:
            raise RuntimeError("memtrace: this object comes from a rank that does not run: name that rank "
                               "in --ranks, too") from error

    c10d._tensor_to_object = _tensor_to_object


def meet(store, rank):
    """The first of those that run holds the store, and waits for no more than them."""
    make = store.__init__

    def __init__(self, host_name, port, world_size=None, is_master=False, *others, **named):
        if world_size is not None:
            world_size = len(RUNNING)
            is_master = is_master or rank == RUNNING[0]
        make(self, host_name, port, world_size, is_master, *others, **named)

    store.__init__ = __init__


def tell_who_runs(nccl):
    make = nccl.__init__

    def __init__(self, store, rank, size, options=None, **named):
        if not isinstance(options, nccl.Options):
            timeout = named.pop("timeout", options)
            options = nccl.Options()
            if timeout is not None:
                options._timeout = timeout
        ranks = options.global_ranks_in_group or range(size)
        running = [index for index, one in enumerate(ranks) if one in RUNNING]
        options.config.net_name = "memtrace:%d/%d:%s" % (rank, size, ",".join(map(str, running)))
        # Ids of communicators, from the lowest of their ranks. A group has its second one only after
        # an error.
        if rank == running[0] and rank != 0:
            for number in range(2):
                store.set(str(number), os.urandom(128))
        for lower in range(rank):  # two of the group have one of their own
            if lower not in running:
                store.set("%d:%d" % (lower, rank), os.urandom(128))
        make(self, store, rank, size, options)

    nccl.__init__ = __init__


def naming_its_peer(c10d, function):
    """The first message to a rank makes a communicator of two."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments, **named):
        told = signature.bind(*arguments, **named).arguments
        group = told.get("group") or c10d.group.WORLD
        peer = told.get("dst", told.get("src"))
        of_group = told.get("group_dst", told.get("group_src"))
        if peer is None and of_group is not None:
            peer = c10d.get_global_rank(group, of_group)
        if peer is not None and peer not in RUNNING:
            os.environ["MEMTRACE_SIM_PEER"] = "absent"
        try:
            return function(*arguments, **named)
        finally:
            os.environ.pop("MEMTRACE_SIM_PEER", None)

    return call


def split_by_name(c10d):
    """Splitting in C++ would leave the parent's name on the group, and a fake group cannot be split."""

    def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
        parents = c10d.get_process_group_ranks(parent_pg)
        own = c10d.get_rank()
        for part in split_ranks:
            ranks = [parents[index] for index in part]
            if own in ranks:
                return c10d.new_group(ranks, timeout=timeout, pg_options=pg_options, group_desc=group_desc)
        return None

    return split_group


def fake_group():
    from torch._C._distributed_c10d import FakeProcessGroup

    make = getattr(FakeProcessGroup, "_create_internal", FakeProcessGroup)

    # Asked for where a group has two backends.
    FakeProcessGroup._set_sequence_number_for_group = lambda group: None

    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, FakeProcessGroup)

    class ProcessGroupGloo(metaclass=Kind):
        def __new__(cls, store, rank, size, *others, **named):
            return make(rank, size)

    return ProcessGroupGloo


def run_the_environments_own():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if RUNNING:
    sys.meta_path.insert(0, Finder())
run_the_environments_own()
