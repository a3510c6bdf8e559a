# SPDX-License-Identifier: Apache-2.0
"""Situations in which memtrace compares the stack it reads with the interpreter's own.

Runs once inside the traced program, with the GIL. `compare` returns True when every frame from
its caller outwards agrees. `check` returns True or False, and lets through only what the
program itself raised (a signal handler's exception).
"""


def check(compare):
    def nested():
        # Some lines below its def, so that a first line taken for the line is noticed.
        values = [1, 2, 3]
        total = sum(values)
        return (
            total == 6
            and
            compare()
        )

    def generator():
        received = yield compare()
        while received:
            received = yield compare()

    async def coroutine():
        await_nothing = [compare()]
        return all(await_nothing)

    def decorated(function):
        def wrapper(*arguments, **options):
            return function(*arguments, **options)

        return wrapper

    @decorated
    def recursive(depth):
        if depth == 0:
            return compare()
        return recursive(depth - 1)

    def run_coroutine():
        running = coroutine()
        try:
            running.send(None)
        except StopIteration as result:
            return result.value
        return False

    def run_generator():
        running = generator()
        return next(running) and running.send(True) and running.send(True)

    def run_text():
        names = {"compare": compare, "results": []}
        text = "\n\ndef grün(x):\n    y = x\n\n    results.append(compare())\ngrün(1)\n"
        exec(compile(text, "<größe 漢字 \U0001f600>", "exec"), names)
        text = "\nclass Body:\n  results.append(compare())\n[results.append(compare()) for _ in 'ab']\n"
        exec(compile(text, "<memtrace: text>", "exec"), names)
        return len(names["results"]) == 4 and all(names["results"])

    try:
        return bool(
            compare()
            and nested()
            and run_generator()
            and run_coroutine()
            and recursive(12)
            and run_text()
            and (lambda: compare())()
            and all(map(lambda _: compare(), range(3)))
        )
    except (RecursionError, MemoryError):
        return False
    except Exception as error:
        last = error.__traceback__
        while last.tb_next is not None:
            last = last.tb_next
        if last.tb_frame.f_code.co_filename == __file__:
            return False
        raise
