# SPDX-License-Identifier: Apache-2.0
"""Run by test_python_stacks.py in each interpreter: scenarios.py PROBE_LIBRARY. Prints JSON."""
import asyncio
import contextlib
import functools
import gc
import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Comparison, Probe  # noqa: E402


def plain_calls(compare):
    def inner(n):
        for _ in range(n):
            compare()
        compare()

    for _ in range(50):
        inner(2)


def generators(compare):
    def numbers(n):
        for i in range(n):
            compare()
            yield i

    def delegating(n):
        yield from numbers(n)
        compare()

    for _ in delegating(20):
        compare()
    list(i for i in numbers(20) if compare())
    running = numbers(3)
    next(running)

    def elsewhere():
        return next(running)

    elsewhere()

    def endless():
        while True:
            compare()
            yield

    def through_another(generator):
        next(generator)

    # The same frame at the same instruction, called from here and from elsewhere in turn.
    resumed = endless()
    for _ in range(20):
        next(resumed)
        through_another(resumed)
        through_another(resumed)
        (lambda: through_another(resumed))()


def coroutines(compare):
    async def leaf(n):
        compare()
        await asyncio.sleep(0)
        compare()
        return n

    async def produce():
        for i in range(5):
            yield await leaf(i)

    async def main():
        await asyncio.gather(*(leaf(i) for i in range(10)))
        async for _ in produce():
            compare()
        return [i async for i in produce() if compare()]

    asyncio.run(main())


def comprehensions_and_lambdas(compare):
    for _ in range(10):
        [compare() for _ in range(3)]
        {i: compare() for i in range(2)}
        {compare() for _ in range(2)}
        (lambda: compare())()
        sorted([3, 1, 2], key=lambda _: compare())
        list(map(lambda _: compare(), "abc"))
        functools.reduce(lambda a, b: compare(), [1, 2, 3])


def decorators_and_contexts(compare):
    def twice(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            function(*arguments)
            return function(*arguments)

        return wrapper

    @contextlib.contextmanager
    def context():
        compare()
        yield
        compare()

    @twice
    @functools.lru_cache(maxsize=None)
    def cached(_):
        return compare()

    class Callable:
        @property
        def value(self):
            return compare()

        def __call__(self):
            return (
                self.value
                and
                compare()
            )

        def __getattr__(self, name):
            return compare()

    for i in range(10):
        with context():
            cached(i)
        Callable()()
        Callable().absent


def destructors(compare):
    class Dying:
        def __del__(self):
            compare()

    def scope():
        dying = Dying()
        del dying
        other = Dying()
        other.itself = other

    for _ in range(20):
        scope()
        gc.collect()


def executed_text(compare):
    names = {"compare": compare}
    for i in range(20):
        text = "\n" * (i % 7) + "def f():\n    compare()\n\n    return compare()\nf()\ncompare()\n"
        exec(compile(text, "<text %d>" % (i % 5), "exec"), names)
        eval("compare() and [compare() for _ in 'ab']", names)
    exec("class Body:\n  x = 1\n  compare()\n", names)


def reused_addresses(compare):
    """Code objects that live for one call: the next one often gets the same address."""
    for i in range(400):
        names = {"compare": compare}
        text = "\n" * (i % 13) + "def name_%d():\n  return compare()\nname_%d()\n" % (i, i)
        exec(compile(text, "<life %d>" % i, "exec"), names)
        del names
    for i in range(400):
        names = {"compare": compare}
        # Same length and shape each time: only the text of the names differs.
        exec(compile("compare()\n", "<%06d>" % i, "exec"), names)


def names_beyond_ascii(compare):
    for file in ("<größe>", "<漢字/ファイル>", "<\U0001f600>", "<undecodable \udcff\udc80>", "<é>" * 100):
        for name in ("grün", "名前", "x"):
            text = "def %s():\n\n  return compare()\n%s()\n" % (name, name)
            exec(compile(text, file, "exec"), {"compare": compare})

    class Text(str):
        pass

    code = compile("compare()\n", Text("<a str of another class>"), "exec")
    exec(code.replace(co_filename=Text("<ünother>")), {"compare": compare})


def long_lines(compare):
    lines = ["def f(a=0):"] + ["    a = (a +\n" + "\n" * 150 + "  1)"] * 3 + ["    return compare()"]
    exec(compile("\n".join(lines) + "\nf()\n", "<long>", "exec"), {"compare": compare})
    huge = "def f(a):\n" + "    a += 1; a -= 1\n" * 2000 + "    return compare()\nf(0)\n"
    exec(compile(huge, "<huge>", "exec"), {"compare": compare})
    chained = "compare() and (\n" + "compare() and\n\n" * 300 + "compare())\n"
    exec(compile(chained, "<chain>", "exec"), {"compare": compare})


def recursion(compare):
    def down(n):
        if n % 37 == 0:
            compare()
        if n:
            down(n - 1)
        if n % 41 == 0:
            compare()

    for depth in (5, 300, 40, 300):
        down(depth)


def traced(compare):
    def tracer(frame, event, argument):
        return tracer

    def work(n):
        total = 0
        for i in range(n):
            total += i
            compare()
        return total

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work(20)
        generators(compare)
    finally:
        sys.settrace(before)
    sys.setprofile(tracer)
    try:
        work(20)
        comprehensions_and_lambdas(compare)
    finally:
        sys.setprofile(None)


def exceptions(compare):
    def fails(n):
        try:
            if n == 0:
                compare()
                raise ValueError
            fails(n - 1)
        except ValueError:
            compare()
            raise
        finally:
            compare()

    for n in range(8):
        try:
            fails(n)
        except ValueError:
            compare()


def threads(compare):
    def run():
        for _ in range(5):
            plain_calls(compare)
            reused_in_thread()
            recursion(compare)

    def reused_in_thread():
        for i in range(30):
            exec(compile("\n" * (i % 5) + "compare()\n", "<thread %d>" % i, "exec"),
                 {"compare": compare})

    workers = [threading.Thread(target=run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def new_ids(compare):
    """A new file, as after a fork: the ids of the old one must not come back."""
    for _ in range(3):
        compare.probe.holding.probe_restart_ids()
        before = compare.probe.holding.probe_interned()
        plain_calls(compare)
        assert compare.probe.holding.probe_interned() > before


SCENARIOS = [
    plain_calls, generators, coroutines, comprehensions_and_lambdas, decorators_and_contexts,
    destructors, executed_text, reused_addresses, names_beyond_ascii, long_lines, recursion,
    traced, exceptions, threads, new_ids,
]


def main():
    probe = Probe(sys.argv[1])
    compare = Comparison(probe)
    compare()  # before the check has run
    status = probe.wait_until_checked()
    counts = {}
    compare()  # module-level code of this file is its outermost frame
    for scenario in SCENARIOS:
        before = compare.count
        scenario(compare)
        counts[scenario.__name__] = compare.count - before
    print(json.dumps({"status": status, "version": probe.holding.probe_version().decode(),
                      "comparisons": compare.count, "wrong": compare.wrong, "counts": counts}))


if __name__ == "__main__":
    main()
