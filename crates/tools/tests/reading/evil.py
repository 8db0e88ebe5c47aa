#!/usr/bin/env python3
"""Tries all that a program must not do in a command that only reads, and says what it could do."""
import ctypes, os, signal, socket, stat, struct, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
victim = os.path.join(here, "victim")
other = int(open(os.path.join(here, "pid")).read())
spool = open(os.path.join(here, "spool")).read()
libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, does):
    try:
        does()
        print("DID", name, file=sys.stderr, flush=True)
    except (OSError, AttributeError, subprocess.SubprocessError):
        pass


def write(path, mode="w"):
    return lambda: open(path, mode).write("x")


def unix(kind):
    def connect():
        end = socket.socket(socket.AF_UNIX, kind)
        end.connect(os.path.join(here, "stream" if kind == socket.SOCK_STREAM else "datagram"))
    return connect


def pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", os.path.join(here, "datagram"))


def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno())


def older():
    path = ctypes.c_char_p(victim.encode())
    if os.uname().machine == "x86_64":
        checked(libc.syscall(90, path, 0o777))  # chmod
        return
    raise OSError


def control(command, given):
    import fcntl
    fcntl.fcntl(os.open(victim, os.O_RDONLY), command, given)


def lock():
    import fcntl
    fcntl.flock(os.open(victim, os.O_RDONLY), fcntl.LOCK_EX)


def namespace_by_clone():
    number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    child = libc.syscall(number, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    checked(child)


READ_LOCK = struct.pack("hhqqi4x", 0, 0, 0, 0, 0)


def flags():
    import fcntl
    file = os.open(victim, os.O_RDONLY)
    fcntl.ioctl(file, 0x40086602, ctypes.create_string_buffer(8))


def attribute():
    value = ctypes.create_string_buffer(b"x")
    given = struct.pack("QII", ctypes.addressof(value), 1, 0)
    checked(libc.syscall(463, -100, victim.encode(), 0, b"user.y", given, ctypes.c_size_t(len(given))))  # setxattrat


def newer_flags():
    given = struct.pack("QIIII", 0x80, 0, 0, 0, 0)  # no dump
    checked(libc.syscall(469, -100, victim.encode(), given, ctypes.c_size_t(len(given)), 0))  # file_setattr


for name, does in {
    "write here": write(os.path.join(here, "new")),
    "write to a file": write(victim, "a"),
    "write to the temporary folder": write("/tmp/retake-reading-new"),
    "write to the spool": write(os.path.join(spool, "new")),
    "write to shared memory": write("/dev/shm/retake-reading-new"),
    "truncate": lambda: os.truncate(victim, 0),
    "remove": lambda: os.remove(victim),
    "rename": lambda: os.rename(victim, victim + "2"),
    "link": lambda: os.link(victim, victim + "3"),
    "symlink": lambda: os.symlink(victim, victim + "4"),
    "mkdir": lambda: os.mkdir(victim + "5"),
    "mkfifo": lambda: os.mkfifo(victim + "6"),
    "write to a pipe with a name": lambda: os.open(os.path.join(here, "fifo"), os.O_WRONLY | os.O_NONBLOCK),
    "chmod": lambda: os.chmod(victim, stat.S_IRWXU),
    "chmod in the older way": older,
    "chown": lambda: os.chown(victim, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(victim, (1, 1)),
    "setxattr": lambda: os.setxattr(victim, "user.x", b"x"),
    "setxattr in the newer way": attribute,
    "flags": flags,
    "flags in the newer way": newer_flags,
    "connect to a socket": unix(socket.SOCK_STREAM),
    "send to a socket": unix(socket.SOCK_DGRAM),
    "send from a pair": pair,
    "tcp": lambda: socket.create_connection(("127.0.0.1", int(open(os.path.join(here, "port")).read()))),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "signal": lambda: os.kill(other, signal.SIGKILL),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, other, 19),
    "limits": lambda: __import__("resource").prlimit(other, 7, (1, 1)),
    "environment": lambda: open(f"/proc/{other}/environ", "rb").read(),
    "memory": lambda: open(f"/proc/{other}/mem", "r+b"),
    "trace": lambda: checked(libc.ptrace(16, other, 0, 0)),
    "messages": lambda: checked(libc.msgget(0x52, 0o1666)),
    "namespace": lambda: checked(libc.unshare(0x10000000)),
    "namespace by clone": namespace_by_clone,
    "lock": lock,
    "lock of a record": lambda: control(6, READ_LOCK),
    "lock of an open file": lambda: control(37, READ_LOCK),
    "lease": lambda: control(1024, 0),
    "signals of a file to others": lambda: control(8, other),
    "another signal of a file": lambda: control(10, signal.SIGKILL),
    "terminal": lambda: open("/dev/tty"),
    "sudo": lambda: subprocess.run(["sudo", "-n", "true"], check=True, stderr=subprocess.DEVNULL),
}.items():
    attempt(name, does)
print("TRIED", file=sys.stderr, flush=True)
