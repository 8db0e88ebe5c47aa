//! Mode bits that a command must not set.

use retake_tools::Network;

use super::stand::{Ground, everywhere};

/// A program with such a mode runs as the person for everyone who starts it, and is in no sandbox.
#[tokio::test]
async fn a_command_can_not_create_setuid_programs() {
    const ATTACK: &str = "import ctypes, os, platform, stat
libc = ctypes.CDLL(None)
newer = platform.machine() == 'x86_64'
open('f', 'w').close()
def attempt(name, does, path='f'):
    try:
        does()
    except (OSError, AttributeError):
        pass
    try:
        mode = os.stat(path).st_mode
        if mode & (stat.S_ISUID | stat.S_ISGID): print('DID', name, oct(mode))
        os.chmod('f', 0o755)
    except OSError:
        pass
at = lambda number, *given: libc.syscall(number, *given)
for bit in (0o4000, 0o2000):
    attempt('chmod', lambda: os.chmod('f', bit | 0o755))
    attempt('chmod by its number', lambda: newer and at(90, b'f', bit | 0o755))
    attempt('fchmod', lambda: os.fchmod(os.open('f', os.O_RDONLY), bit | 0o755))
    attempt('fchmodat2', lambda: at(452, -100, b'f', bit | 0o755, 0))
    attempt('open', lambda: os.open(f'g{bit}', os.O_CREAT | os.O_WRONLY, bit | 0o755), f'g{bit}')
    attempt('open by its number', lambda: newer and at(2, f'h{bit}'.encode(), os.O_CREAT | os.O_WRONLY, bit | 0o755), f'h{bit}')
    attempt('creat', lambda: newer and at(85, f'i{bit}'.encode(), bit | 0o755), f'i{bit}')
    attempt('mknod', lambda: os.mknod(f'j{bit}', stat.S_IFREG | bit | 0o755), f'j{bit}')
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, bit | 0o755, 0)
    attempt('openat2', lambda: at(437, -100, f'k{bit}'.encode(), how, 24), f'k{bit}')
    def unnamed():
        file = os.open('.', os.O_TMPFILE | os.O_RDWR, bit | 0o755)
        os.link(f'/proc/self/fd/{file}', f'l{bit}', follow_symlinks=True)
    attempt('a file without a name', unnamed, f'l{bit}')
print('TRIED')
";
    everywhere("hold::modes::a_command_can_not_create_setuid_programs", async |how| {
        for network in [Network::Ask, Network::On] {
            let ground = Ground::new(how, network);
            ground.can_not(ATTACK, &[]).await;
            ground
                .prints("touch plain && chmod 755 plain && install -m 700 plain other && mkdir -m 1777 d")
                .await;
        }
    })
    .await;
}
