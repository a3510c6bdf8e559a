# SPDX-License-Identifier: Apache-2.0
"""Some ranks of a world, run as if all were there: `memtrace dry-run --world-size 512 --ranks 0,511`.

Lies before the program as its sitecustomize.py. The ranks that run meet as ever; one that does not is
taken for one that does what this rank does. With NCCL the simulator plays it
(simulator/libraries/nccl_exchange.h), which is told here who runs of each group. With Gloo, whose ranks
connect to each other, PyTorch's own fake group does, and objects go through the store.
"""

import copy
import fcntl
import functools
import inspect
import os
import pickle
import signal
import sys
from importlib import machinery, util

RUNNING = [int(rank) for rank in os.environ.get("MEMTRACE_SIM_RANKS", "").split(",") if rank]
OWN = int(os.environ.get("RANK", "-1"))
WORLD = int(os.environ.get("WORLD_SIZE", "-1"))
DISTRIBUTED = "torch.distributed.distributed_c10d"
HERE = os.path.dirname(os.path.abspath(__file__))
FARTHEST = 4096  # ranks below, from which a message may be the first

present = []  # the file that says that this process is there
exchanged = {}  # by group: objects so far


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
    from torch._C._distributed_c10d import FileStore, TCPStore

    meet(TCPStore)
    meet_in_file(FileStore)
    c10d.init_process_group = as_started(c10d.init_process_group)
    if hasattr(c10d, "ProcessGroupNCCL"):
        tell_who_runs(c10d.ProcessGroupNCCL)
    if hasattr(c10d, "ProcessGroupGloo"):
        c10d.ProcessGroupGloo = fake_group()
    if hasattr(c10d, "split_group"):
        c10d.split_group = split_by_name(c10d)
    for name in ("send", "recv", "isend", "irecv"):
        setattr(c10d, name, naming_its_peer(c10d, getattr(c10d, name)))
    for name in ("broadcast_object_list", "scatter_object_list", "recv_object_list"):
        setattr(c10d, name, from_one_that_runs(c10d, getattr(c10d, name)))
    c10d.all_gather_object = gathering_objects(c10d, c10d.all_gather_object)
    c10d.gather_object = gathering_objects(c10d, c10d.gather_object)
    c10d.gather = gathering(c10d, c10d.gather)
    # All others have passed these.
    c10d._store_based_barrier = lambda *arguments, **named: None
    c10d.monitored_barrier = lambda *arguments, **named: None
    if hasattr(c10d, "_create_process_group_wrapper"):  # it compares what all ranks are about to do
        c10d._create_process_group_wrapper = lambda wrapped_pg, *arguments, **named: wrapped_pg


def refuse(rank):
    raise RuntimeError("memtrace: rank %d is not one that memtrace started (%s): it starts the ranks itself, so leave "
                       "torchrun, accelerate launch and mp.spawn out" % (rank, ", ".join(map(str, RUNNING))))


def as_started(function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def init_process_group(*arguments, **named):
        rank = signature.bind(*arguments, **named).arguments.get("rank", -1)
        if rank not in (-1, OWN):
            refuse(rank)
        return function(*arguments, **named)

    return init_process_group


def meet(store):
    """A process of its own holds the world's store, as torchrun does; none waits for more than those that run."""
    make = store.__init__
    holders = {}

    def __init__(self, host_name, port, world_size=None, is_master=False, *others, **named):
        if world_size != WORLD:
            return make(self, host_name, port, world_size, is_master, *others, **named)
        if is_master or OWN == RUNNING[0]:
            if port in holders:
                end(holders[port])
            holders[port] = hold(lambda: make(self, host_name, port, None, True, wait_for_workers=False))
        return make(self, host_name, port, len(RUNNING), False, *others, **named)

    store.__init__ = __init__


def hold(make_store):
    """A child that has the store until all ranks have ended."""
    child = os.fork()
    if child != 0:
        return child
    try:
        for number in (signal.SIGINT, signal.SIGTERM):  # they are for the ranks
            signal.signal(number, signal.SIG_IGN)
        make_store()
        with open(os.path.join(HERE, "running"), "a") as file:
            os.close(present.pop())
            fcntl.flock(file, fcntl.LOCK_EX)
    finally:
        os._exit(0)


def end(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def meet_in_file(store):
    make = store.__init__

    def __init__(self, file_name, world_size=-1):
        make(self, file_name, len(RUNNING) if world_size == WORLD else world_size)

    store.__init__ = __init__


def tell_who_runs(nccl):
    make = nccl.__init__

    def __init__(self, store, rank, size, options=None, **named):
        if isinstance(options, nccl.Options):
            options = own_copy(options)  # a program may give the same to several groups
        else:
            timeout = named.pop("timeout", options)
            options = nccl.Options()
            if timeout is not None:
                options._timeout = timeout
        ranks = options.global_ranks_in_group or range(size)
        if ranks[rank] != OWN:
            refuse(ranks[rank])
        running = [index for index, one in enumerate(ranks) if one in RUNNING]
        options.config.net_name = "memtrace:%d/%d:%s" % (rank, size, ",".join(map(str, running)))
        # Ids of communicators, from the lowest of their ranks. A group has its second one only after
        # an error.
        if rank == running[0] and rank != 0:
            for number in range(2):
                store.set(str(number), os.urandom(128))
        for lower in range(max(0, rank - FARTHEST), rank):  # two of the group have one of their own
            if lower not in running:
                store.set("%d:%d" % (lower, rank), os.urandom(128))
        make(self, store, rank, size, options)

    nccl.__init__ = __init__


def own_copy(options):
    try:
        made = copy.deepcopy(options)
    except TypeError:  # it cannot be copied
        return options
    for name in ("split_from", "split_color", "global_ranks_in_group", "group_name"):
        if hasattr(options, name):
            setattr(made, name, getattr(options, name))
    return made


def peer_of(c10d, signature, arguments, named):
    """The rank in the world that a call names; None: it names none."""
    told = signature.bind(*arguments, **named).arguments
    peer = told.get("dst", told.get("src"))
    of_group = told.get("group_dst", told.get("group_src"))
    if peer is None and of_group is not None:
        return c10d.get_global_rank(told.get("group") or c10d.group.WORLD, of_group)
    return peer


def naming_its_peer(c10d, function):
    """The first message to a rank makes a communicator of two."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments, **named):
        peer = peer_of(c10d, signature, arguments, named)
        if peer is not None and peer not in RUNNING:
            os.environ["MEMTRACE_SIM_PEER"] = "absent"
        try:
            return function(*arguments, **named)
        finally:
            os.environ.pop("MEMTRACE_SIM_PEER", None)

    return call


def objects_of(c10d, group, value, senders):
    """By rank in the world, what those of the group that run have given: through the store."""
    group = group or c10d.group.WORLD
    ranks = [rank for rank in c10d.get_process_group_ranks(group) if rank in RUNNING]
    number = exchanged[group.group_name] = exchanged.get(group.group_name, 0) + 1
    key = "memtrace/%s/%d/" % (group.group_name, number)
    store = c10d._get_default_store()
    if OWN in senders:
        store.set(key + str(OWN), pickle.dumps(value))
    return {rank: pickle.loads(store.get(key + str(rank))) for rank in ranks if rank in senders}


def is_on_gloo(c10d, group):
    device = getattr(c10d, "_get_object_coll_device", None)
    return device is not None and "cpu" in str(device(group))


def from_one_that_runs(c10d, function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments, **named):
        sender = peer_of(c10d, signature, arguments, named)
        if sender is None and function.__name__ != "recv_object_list":
            sender = 0
        if sender is not None and sender not in RUNNING:
            raise RuntimeError("memtrace: this object comes from rank %d, which does not run: name it in --ranks, too"
                               % sender)
        told = signature.bind(*arguments, **named).arguments
        group = told.get("group")
        if function.__name__ == "recv_object_list" or told.get("device") or not is_on_gloo(c10d, group):
            return function(*arguments, **named)
        if function.__name__ == "broadcast_object_list":
            objects = told["object_list"]
            objects[:] = objects_of(c10d, group, objects, [sender])[sender]
        else:
            given = told.get("scatter_object_input_list")
            of_all = objects_of(c10d, group, given, [sender])[sender]
            told["scatter_object_output_list"][0] = of_all[c10d.get_rank(group)]
        return None

    return call


def gathering_objects(c10d, function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments, **named):
        told = signature.bind(*arguments, **named).arguments
        group = told.get("group")
        if not is_on_gloo(c10d, group):
            return function(*arguments, **named)
        own = told["obj"]
        ranks = c10d.get_process_group_ranks(group or c10d.group.WORLD)
        found = objects_of(c10d, group, own, ranks)
        to = told.get("object_list", told.get("object_gather_list"))
        if to is not None:
            to[:] = [found[rank] if rank in found else pickle.loads(pickle.dumps(own)) for rank in ranks]
        return None

    return call


def gathering(c10d, function):
    """Who gathers has its own from those that do not run."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def gather(*arguments, **named):
        work = function(*arguments, **named)
        told = signature.bind(*arguments, **named).arguments
        if told.get("gather_list"):
            ranks = c10d.get_process_group_ranks(told.get("group") or c10d.group.WORLD)
            for rank, to in zip(ranks, told["gather_list"]):
                if rank not in RUNNING:
                    to.copy_(told["tensor"])
        return work

    return gather


def split_by_name(c10d):
    """Splitting in C++ would leave the parent's name on the group, and a fake group cannot be split."""

    def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
        parents = c10d.get_process_group_ranks(parent_pg or c10d.group.WORLD)
        for part in split_ranks:
            ranks = [parents[index] for index in part]
            if OWN in ranks:
                return c10d.new_group(ranks, timeout=timeout, pg_options=pg_options, group_desc=group_desc,
                                      use_local_synchronization=True)
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


def say_that_it_runs():
    """To whoever holds the store: this file is open as long as this process is."""
    file = os.open(os.path.join(HERE, "running"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_SH)
    present.append(file)


def run_the_environments_own():
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != HERE]
    spec = machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if RUNNING and OWN in RUNNING:
    os.environ["MEMTRACE_SIM_PLAYED"] = str(os.getpid())  # the simulator looks for it
    sys.meta_path.insert(0, Finder())
    if "MEMTRACE_SIM_PRESENT" not in os.environ:  # not in what this process starts
        os.environ["MEMTRACE_SIM_PRESENT"] = "1"
        say_that_it_runs()
elif RUNNING and OWN >= 0 and WORLD > 0:
    refuse(OWN)
run_the_environments_own()
