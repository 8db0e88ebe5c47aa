# Tries to do something to another process.
import ctypes, os, resource, signal, sys

pid = int(sys.argv[1])


def attempt(what, work):
    try:
        work()
        print("DID", what)
    except (OSError, ValueError):
        pass


libc = ctypes.CDLL(None, use_errno=True)


def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


for name in ["environ", "mem", "maps", "auxv", "syscall"]:
    attempt("read " + name, lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
for name in ["cwd", "exe", "root"]:
    attempt("follow " + name, lambda: os.readlink(f"/proc/{pid}/{name}"))
for fd in range(0, 20):
    attempt("take a descriptor", lambda: os.readlink(f"/proc/{pid}/fd/{fd}"))
attempt("signal", lambda: os.kill(pid, signal.SIGWINCH))
attempt("signal by a descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGWINCH))
attempt("trace", lambda: call(101, 0x4206, pid, 0, 0))
none = resource.getrlimit(resource.RLIMIT_NOFILE)
attempt("set a limit", lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))
attempt("change its place", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
attempt("bind it to a processor", lambda: os.sched_setaffinity(pid, {0}))
print("TRIED")
