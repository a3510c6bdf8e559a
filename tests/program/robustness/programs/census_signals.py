# SPDX-License-Identifier: Apache-2.0
"""The effect of SIGUSR2 on a program that uses it itself. Each case in a forked child of its own.

Prints for each case what it saw and how it ended. `default` is the one that memtrace changes
where it is asked to."""

import faulthandler
import os
import signal
import subprocess
import sys
import threading

import torch

SIGNAL = signal.SIGUSR2
seen = []


def use_gpu():
    layer = torch.nn.Linear(8, 8).cuda()
    for _ in range(8):
        layer(torch.ones(4, 8, device="cuda"))


def strike(process=None):
    os.kill(process or os.getpid(), SIGNAL)
    use_gpu()


def handler(number, frame):
    seen.append(number)


def set_before():
    signal.signal(SIGNAL, handler)
    use_gpu()
    strike()
    return [seen, signal.getsignal(SIGNAL) is handler]


def set_after():
    use_gpu()
    before = signal.signal(SIGNAL, handler)
    strike()
    return [seen, before]


def set_and_taken_back():
    use_gpu()
    signal.signal(SIGNAL, signal.signal(SIGNAL, handler))
    strike()


def ignored():
    signal.signal(SIGNAL, signal.SIG_IGN)
    use_gpu()
    strike()
    return signal.getsignal(SIGNAL)


def raises():
    def leave(number, frame):
        raise KeyboardInterrupt

    use_gpu()
    signal.signal(SIGNAL, leave)
    try:
        strike()
    except KeyboardInterrupt:
        return "interrupted"


def waited_for():
    signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])
    use_gpu()
    strike()
    return signal.sigtimedwait([SIGNAL], 5).si_signo


def waking():
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.set_wakeup_fd(writes)
    signal.signal(SIGNAL, handler)
    use_gpu()
    strike()
    return [os.read(reads, 1), seen]


def dumping():
    use_gpu()
    faulthandler.register(SIGNAL)
    strike()
    return faulthandler.unregister(SIGNAL)


def in_a_thread():
    use_gpu()
    signal.signal(SIGNAL, handler)
    thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), SIGNAL))
    thread.start()
    thread.join()
    use_gpu()
    return seen


def to_a_forked_child():
    use_gpu()
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    os.kill(child, SIGNAL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def to_a_subprocess():
    use_gpu()
    child = subprocess.Popen([sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"],
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    os.kill(child.pid, SIGNAL)
    return child.wait()


def without_the_gpu():
    os.kill(os.getpid(), SIGNAL)


def default():
    use_gpu()
    strike()
    return [signal.getsignal(SIGNAL), "alive"]


def run(case):
    child = os.fork()
    if child == 0:
        print(f"{case.__name__}: {case()}", flush=True)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"{case.__name__} ended: {status}", flush=True)


CASES = (set_before, set_after, set_and_taken_back, ignored, raises, waited_for, waking, dumping,
         in_a_thread, to_a_forked_child, to_a_subprocess, without_the_gpu, default)
for case in CASES:
    run(case)
