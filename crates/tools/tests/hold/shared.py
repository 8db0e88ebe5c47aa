# Tries to use what another program shares without a file. Arguments: its memory, semaphores, queue, and the name of its other queue.
import ctypes, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
memory, semaphores, queue = map(int, sys.argv[1:4])
name = sys.argv[4].encode()
buffer = ctypes.create_string_buffer(4096)


class Operation(ctypes.Structure):
    _fields_ = [("number", ctypes.c_ushort), ("by", ctypes.c_short), ("flags", ctypes.c_short)]


print("TRIED")
if libc.shmat(memory, None, 0) != ctypes.c_void_p(-1).value:
    print("DID attach memory")
if libc.shmctl(memory, 2, buffer) != -1:
    print("DID look at memory")
if libc.semop(semaphores, ctypes.byref(Operation(0, 1, 0)), 1) != -1:
    print("DID raise a semaphore")
if libc.msgrcv(queue, buffer, 100, 0, 0o4000) != -1:
    print("DID take a message")
if libc.mq_open(name, 0) != -1:
    print("DID open a queue of POSIX")
for call in (libc.shmget, libc.semget, libc.msgget):
    if call(0x52746B65, 1, 0o600) != -1:
        print("DID find one by its key")
