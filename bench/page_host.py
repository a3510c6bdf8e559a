# SPDX-License-Identifier: Apache-2.0
"""As many events in the host's memory, for memray, which knows no GPU: layers that keep what they allocate until the way
back, from 240 lines' worth of stacks. Buffers of more than 512 bytes, which Python asks malloc for.

Usage: page_host.py EVENTS"""

import sys


def layer(depth: int, width: int, kept: list) -> None:
    kept.append(bytearray(1024 * (1 + depth % 7) + width))
    kept.append(bytearray(4096 + width))
    temporary = bytearray(2048 * (1 + depth % 3))
    if depth:
        layer(depth - 1, width, kept)
    del temporary
    kept.pop()


def main(events: int) -> None:
    optimizer = [bytearray(65536) for _ in range(100)]
    done = 200
    while done < events:
        kept: list = []
        layer(79, done % 512, kept)
        kept.clear()
        done += 80 * 3 * 2
    print(len(optimizer))


if __name__ == "__main__":
    main(int(sys.argv[1]))
