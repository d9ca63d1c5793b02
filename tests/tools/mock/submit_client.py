#!/usr/bin/python3
"""Submits a batch of i915 by system calls alone: `submit_client.py COUNT ADDRESS`. The batch stores
the number 0x600d at ADDRESS; a buffer of 4096 bytes is at 0x100000. Prints the buffer's first dword
in the end, and how many submissions of the context hung."""

import ctypes
import fcntl
import os
import struct
import sys

GEM_CREATE, GEM_PREAD, GEM_PWRITE = 0xC010645B, 0x4020645C, 0x4020645D
GEM_EXECBUFFER2, GEM_WAIT, GET_RESET_STATS = 0x40406469, 0xC010646C, 0xC0186472
PINNED, WRITE = 0x10, 0x4


def call(fd: int, request: int, layout: str, *words: int) -> tuple[int, ...]:
    argument = bytearray(struct.pack(layout, *words))
    fcntl.ioctl(fd, request, argument, True)
    return struct.unpack(layout, argument)


def create(fd: int) -> int:
    return call(fd, GEM_CREATE, "QII", 4096, 0, 0)[1]


def copy(fd: int, request: int, handle: int, data: ctypes.Array[ctypes.c_char]) -> None:
    call(fd, request, "IIQQQ", handle, 0, 0, len(data), ctypes.addressof(data))


def entry(handle: int, address: int, flags: int) -> bytes:
    return struct.pack("IIQQQQQQ", handle, 0, 0, 0, address, flags | PINNED, 0, 0)


def main() -> None:
    count, address = int(sys.argv[1]), int(sys.argv[2], 0)
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    target, batch = create(fd), create(fd)
    # MI_STORE_DATA_IMM, MI_BATCH_BUFFER_END
    words = struct.pack("6I", 0x10000002, address, 0, 0x600D, 0x05000000, 0)
    copy(fd, GEM_PWRITE, batch, ctypes.create_string_buffer(words, len(words)))
    entries = ctypes.create_string_buffer(entry(target, 0x100000, WRITE) +
                                          entry(batch, 0x200000, 0))
    for _ in range(count):
        call(fd, GEM_EXECBUFFER2, "Q6IQQQQ", ctypes.addressof(entries), 2, 0, len(words), 0, 0, 0,
             0, 0, 0, 0)
    call(fd, GEM_WAIT, "IIq", batch, 0, -1)
    first = ctypes.create_string_buffer(4)
    copy(fd, GEM_PREAD, target, first)
    hung = call(fd, GET_RESET_STATS, "6I", 0, 0, 0, 0, 0, 0)[3]
    print(hex(struct.unpack("I", first.raw)[0]), hung, flush=True)
    if len(sys.argv) > 3:
        os.kill(os.getpid(), int(sys.argv[3]))


if __name__ == "__main__":
    main()
