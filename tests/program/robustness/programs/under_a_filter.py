# SPDX-License-Identifier: Apache-2.0
"""Executes the rest of its arguments where a filter of seccomp stands before some calls of the system:
under_a_filter.py eperm|enosys|kill NUMBER,… COMMAND…"""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of a 32-bit word; a jump; the end
ALLOW = 0x7FFF0000
ANSWERS = {"eperm": 0x00050000 | 1, "enosys": 0x00050000 | 38, "kill": 0x80000000}

answer, numbers, command = ANSWERS[sys.argv[1]], [*map(int, sys.argv[2].split(","))], sys.argv[3:]
lines = [(LOAD, 0, 0, 0)]  # the number of the call, which comes first in seccomp_data
lines += [(EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
lines += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, answer)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0)):
    if libc.prctl(*call) != 0:
        print("no filter:", os.strerror(ctypes.get_errno()), file=sys.stderr)
        sys.exit(77)
os.execv(command[0], command)
