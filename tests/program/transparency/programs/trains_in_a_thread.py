# SPDX-License-Identifier: Apache-2.0
"""The main thread is blocked in a call that never returns to the interpreter; a second one trains."""

import ctypes
import os
import threading
import time

import trains

done, finished = os.pipe()


def train():
    trains.main(2)
    time.sleep(0.5)  # until it is clear that the main thread does not answer
    trains.main(1)  # asks for the other way
    time.sleep(0.5)  # which is a thread of its own, and may have to wait for a processor
    trains.main(3)
    os.write(finished, b"x")


thread = threading.Thread(target=train)
thread.start()
byte = ctypes.create_string_buffer(1)
assert ctypes.CDLL(None).read(done, byte, 1) == 1  # without the GIL, and no pending call is run
thread.join()
