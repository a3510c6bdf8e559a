# SPDX-License-Identifier: Apache-2.0
"""Two processes on one device: the child holds memory while the parent takes its most."""

import os

import driver
from driver import MIB

ready_read, ready_write = os.pipe()
done_read, done_write = os.pipe()
child = os.fork()
driver.begin()
if child == 0:
    driver.allocate(300 * MIB)
    os.write(ready_write, b"x")
    os.read(done_read, 1)
    os._exit(0)
os.read(ready_read, 1)
driver.let_it_look()
driver.allocate(100 * MIB)
print(driver.used())
driver.let_it_look()
os.write(done_write, b"x")
os.waitpid(child, 0)
