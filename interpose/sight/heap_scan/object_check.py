# SPDX-License-Identifier: Apache-2.0
"""Objects whose contents are known, for memtrace to read as a census reads objects.

Runs once inside the traced program, with the GIL. Each call of `same` names a kind and hands over
an object and what is true of it; it returns False where memtrace reads something else, and is not
called for what this Python has not loaded. `leave` keeps torch's compiler away from our code.
Returns True when all agree, and lets through only what the program itself raised.
"""


def check(same, modules, leave):
    leave(check.__code__)

    class Plain:
        def __init__(self, first, second):
            self.first = first
            self.second = second

    class Slots:
        __slots__ = ("first", "second")

        def __init__(self, first, second):
            self.first = first
            self.second = second

    def generator(first):
        second = [first]
        # So many that nothing else in the code is their number.
        a = b = c = d = e = f = g = h = None
        yield lambda: second, a, b, c, d, e, f, g, h

    def handles(outer):
        try:
            raise KeyError(outer)
        except KeyError as inner:
            yield same("exceptions", inner, outer)

    def variables():
        one = ["first"]
        running = generator(one)
        next(running)
        code = running.gi_code
        frame = running.gi_frame
        agree = same("generator", running, frame, code) and same(
            "code", code, len({*code.co_varnames, *code.co_cellvars, *code.co_freevars}), "first",
            code.co_varnames, code.co_cellvars, code.co_freevars)
        agree = agree and same("variables", running, frame, "first", one, "second", one)
        del frame
        next(running, None)  # to its end
        return agree and same("finished", running)

    def instances():
        one, other = ["first"], ["second"]
        asked = Plain(one, other)
        return (same("type", Plain, Plain.__base__, Plain.__basicsize__, Plain.__dictoffset__,
                     Plain.__flags__)
                and same("type", Slots, Slots.__base__, Slots.__basicsize__, Slots.__dictoffset__,
                         Slots.__flags__)
                and same("attributes", Plain(one, other), "first", one, "second", other)
                and same("dictionary", asked, vars(asked), one, other)
                and same("slots", Slots(one, other), one, other))

    def containers():
        one = ["first"]
        agree = (same("list", [one] * 5, 5) and same("tuple", (one, 1, 2), 3, one)
                 and same("dict", {"first": one, "second": 1}, 2, one)
                 and same("set", {1, 2, 3, 4}, 4) and same("set", frozenset((1, 2)), 2))
        kinds = modules.get("collections")
        if agree and kinds is not None:
            agree = (same("deque", kinds.deque([one] * 3, 7), 3, 7)
                     and same("deque", kinds.deque([one] * 2), 2, -1))
        tools = modules.get("functools")
        if agree and tools is not None:
            @tools.lru_cache(maxsize=9)
            def cached(number):
                return number
            cached(1), cached(2)
            agree = same("lru_cache", cached, 2, 9)
        return agree

    def exceptions():
        try:
            raise ValueError("memtrace")
        except ValueError as outer:
            return next(handles(outer))

    return (containers() and instances() and variables() and exceptions() and same("context", None)
            and same("collector", None))
