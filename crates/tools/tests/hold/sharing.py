# Shares memory, semaphores and queues as the person's programs do, until its input ends.
import ctypes, sys

libc = ctypes.CDLL(None, use_errno=True)
KEY, MAKE = 0, 0o1600
name = sys.argv[1].encode()
memory = libc.shmget(KEY, 4096, MAKE)
semaphores = libc.semget(KEY, 1, MAKE)
queue = libc.msgget(KEY, MAKE)
message = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0secret")
libc.msgsnd(queue, message, 6, 0)
libc.mq_open(name, 0o102, 0o600, None)
print(memory, semaphores, queue, flush=True)
sys.stdin.read()
libc.shmctl(memory, 0, None)
libc.semctl(semaphores, 0, 0)
libc.msgctl(queue, 0, None)
libc.mq_unlink(name)
