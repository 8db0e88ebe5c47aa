# Tries to reach sockets of others: paths, and names without a path, which begin with @. `+` before one: it is to be reached.
import ctypes, os, socket, sys

UNIX = socket.AF_UNIX
for name in sys.argv[1:]:
    said = "REACHED" if name.startswith("+") else "DID reach"
    name = name.lstrip("+")
    address = "\0" + name[1:] if name.startswith("@") else name
    for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:
        try:
            socket.socket(UNIX, kind).connect(address)
            print(said, name)
        except OSError:
            pass
    for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:
        try:
            socket.socket(UNIX, kind).sendto(b"x", address)
            print(said, name, "by a datagram")
        except OSError:
            pass
        try:
            socket.socketpair(UNIX, kind)[0].sendto(b"x", address)
            print(said, name, "by one of a pair")
        except OSError:
            pass
# The same calls by other numbers.
libc = ctypes.CDLL(None, use_errno=True)
for number in [41, 53]:
    pair = (ctypes.c_int * 2)()
    if libc.syscall(0x40000000 | number, UNIX, socket.SOCK_DGRAM, 0, pair) >= 0:
        print("DID call", number, "by another number")
print("TRIED")
