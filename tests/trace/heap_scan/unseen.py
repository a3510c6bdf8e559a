# SPDX-License-Identifier: Apache-2.0
"""A census leaves no trace in the program: no code of the program runs, nothing lives longer or
shorter, nothing is allocated or collected by Python, and an error that is set stays set."""
import ctypes
import gc
import sys
import weakref

sys.path.insert(0, __file__.rpartition("/")[0])
from probe import Held, Probe  # noqa: E402


def trap(name):
    def runs(self, *arguments, **named):
        raise SystemExit("the census ran %s" % name)
    return runs


SPECIAL = ("iter", "next", "len", "contains", "getitem", "eq", "ne", "lt", "bool", "hash", "repr",
           "str", "getattr", "getattribute", "instancecheck", "subclasscheck", "missing", "call",
           "reduce_ex", "dir", "sizeof", "length_hint", "reversed", "enter", "exit", "get")


def with_traps(name, *bases):
    class_of_class = type("Meta" + name, (type,), {
        "__%s__" % special: trap("Meta.__%s__" % special)
        for special in SPECIAL if special not in ("call", "getattribute", "getattr")})
    return class_of_class(name, bases, {"__%s__" % special: trap("__%s__" % special)
                                        for special in SPECIAL})


def make_traps():
    kept = []
    for bases in ((), (list,), (dict,), (tuple,), (set,), (str,), (Exception,)):
        trapped = with_traps("Trap", *bases)
        try:
            kept.append(trapped.__new__(trapped))
        except TypeError:
            continue
    holder = with_traps("Holder").__new__(with_traps("Holder"))
    object.__setattr__(holder, "inside", [Held()])
    kept.append(holder)
    return kept


class Finalised:
    deaths = 0

    def __del__(self):
        Finalised.deaths += 1


def cycle():
    one = Finalised()
    one.itself = one
    return weakref.ref(one)


def counts(things):
    return [sys.getrefcount(thing) for thing in things]


def runs_no_code_and_keeps_no_reference(probe):
    traps = make_traps()
    local = Held()
    things = [local, traps, Held, sys.modules, globals(), type, Exception, None]
    reference = weakref.ref(local)
    probe.take()
    before = counts(things)
    referrers = len(gc.get_referrers(local))
    for _ in range(3):
        probe.take()
    assert counts(things) == before, (counts(things), before)
    assert len(gc.get_referrers(local)) == referrers
    rows = probe.rows()
    assert id(local) in rows
    assert any(row[0].startswith("traps") for row in rows.values())
    del things, local
    assert reference() is None, "a census keeps it alive"


def allocates_and_collects_nothing(probe):
    unreachable, thing = cycle(), Held()
    calls = probe.library.probe_allocator_calls
    calls.argtypes = [ctypes.c_ulong]
    assert probe.library.probe_counted_calls() > 0
    assert calls(id(Held)) == 0
    assert id(thing) in probe.rows()
    gc.disable()
    stats = gc.get_stats()
    probe.take()
    assert gc.get_stats() == stats
    gc.enable()
    assert unreachable() is not None and Finalised.deaths == 0


def leaves_the_error_that_is_set(probe):
    thing, function = Held(), probe.library.probe_with_error
    function.argtypes = [ctypes.py_object, ctypes.c_ulong]
    assert function(KeyError, id(Held)) == 1 and id(thing) in probe.rows()


def keeps_instances_as_they_are(probe):
    """Asking for __dict__ would make one, which from 3.11 on makes the object larger and slower."""
    class Plain:
        pass

    plain, other = Plain(), Plain()
    plain.x = other.x = Held()
    size = sys.getsizeof(plain)
    referents = [type(thing) for thing in gc.get_referents(plain)]
    probe.take()
    assert [type(thing) for thing in gc.get_referents(plain)] == referents
    assert sys.getsizeof(plain) == size
    assert probe.rows()[id(plain.x)][0] in ("plain.x", "other.x")


def locals_die_with_their_function(probe):
    def function():
        thing = Held()
        probe.take()
        return weakref.ref(thing), id(thing) in probe.rows()

    reference, was_found = function()
    assert was_found and reference() is None


def rebound_locals_die_at_once(probe):
    thing = Held()
    reference = weakref.ref(thing)
    probe.take()
    thing = None
    assert reference() is None and thing is None


def a_limit_is_told(probe):
    many = [[Held()] for _ in range(1000)]
    probe.take(most_objects=500)
    assert probe.is_incomplete() and probe.objects() <= 500
    probe.take()
    assert not probe.is_incomplete()
    assert all(id(entry[0]) in probe.rows() for entry in many)


def deep_structures(probe):
    nested = Held()
    address = id(nested)
    for _ in range(200_000):
        nested = [nested]
    probe.take()
    assert probe.rows()[address][0] == "nested[…]"
    while isinstance(nested, list):
        nested = nested.pop()


probe = Probe(sys.argv[1])
for check in (runs_no_code_and_keeps_no_reference, allocates_and_collects_nothing,
              leaves_the_error_that_is_set, keeps_instances_as_they_are,
              locals_die_with_their_function, rebound_locals_die_at_once, a_limit_is_told,
              deep_structures):
    check(probe)
print("unseen")
