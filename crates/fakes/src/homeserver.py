"""Runs Synapse with the configuration of a folder. Ends and removes the folder when its standard input ends: the test program that holds
the other end has ended then, however it did."""

import os
import shutil
import sys
import threading

FOLDER = sys.argv[1]


def end_with_the_tests() -> None:
    while os.read(0, 4096):
        pass
    shutil.rmtree(FOLDER, ignore_errors=True)
    os._exit(0)


threading.Thread(target=end_with_the_tests, daemon=True).start()
sys.argv = ["synapse", "-c", os.path.join(FOLDER, "homeserver.yaml")]

from synapse.app.homeserver import main  # noqa: E402

main()
