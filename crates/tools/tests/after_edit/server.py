# A small language server. Its first argument is what it does, its second the file for its log.
# A line of a file with ERROR is an error, one with WARN a warning; BREAKS NAME is an error in the file NAME.
import json, os, pathlib, sys, time

WHAT, LOG = sys.argv[1], sys.argv[2]
IN, OUT = sys.stdin.buffer, sys.stdout.buffer
FILES = {}


def log(line):
    with open(LOG, "a") as file:
        file.write(line + "\n")


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUT.flush()


def receive():
    length = 0
    while True:
        line = IN.readline()
        if not line:
            sys.exit(0)
        if not line.strip():
            return json.loads(IN.read(length))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)


def problems(text):
    found = []
    for at, line in enumerate(text.splitlines()):
        for word, severity in (("ERROR", 1), ("WARN", 2), ("HINT", 4)):
            if word in line:
                start = {"line": at, "character": line.index(word)}
                message = line.replace("\\e", "\x1b").replace("\\n", "\n")
                found.append({"range": {"start": start, "end": start}, "severity": severity, "message": message})
    return found


def publish(uri, version, text):
    for line in text.splitlines():
        if line.startswith("BREAKS "):
            start = {"line": 0, "character": 0}
            broken = [{"range": {"start": start, "end": start}, "severity": 1, "message": "it is broken"}]
            other = uri.rsplit("/", 1)[0] + "/" + line.split()[1]
            send({"method": "textDocument/publishDiagnostics", "params": {"uri": other, "diagnostics": broken}})
    params = {"uri": uri, "diagnostics": problems(text)}
    if WHAT != "no-version":
        params["version"] = version
    send({"method": "textDocument/publishDiagnostics", "params": params})


def trouble():
    if WHAT == "mute":
        return
    if WHAT == "crash":
        print("cannot go on", file=sys.stderr)
        os._exit(9)
    if WHAT == "garbage":
        OUT.write(b"hello\n\nhello\n")
    if WHAT == "no-json":
        OUT.write(b"Content-Length: 3\r\n\r\n{{{")
    if WHAT == "giant":
        OUT.write(b"Content-Length: 900000000\r\n\r\n" + b"x" * 100_000)
    if WHAT == "half":
        OUT.write(b"Content-Length: 900\r\n\r\nx")
    OUT.flush()
    while WHAT == "flood":
        send({"method": "window/logMessage", "params": {"type": 1, "message": "x" * 100}})
    time.sleep(10_000)


def changed(uri, version, text):
    log(f"has {uri.rsplit('/', 1)[1]} {version} {text!r}")
    FILES[uri] = text
    if WHAT in ("mute", "crash", "garbage", "no-json", "giant", "half", "flood"):
        trouble()
    elif WHAT != "pull" and WHAT != "later":
        publish(uri, version, text)


def attack(root):
    for path in (root + "/by-the-server", root + "/../by-the-server"):
        try:
            pathlib.Path(path).write_text("x")
            log("DID write " + path)
        except OSError:
            log("TRIED " + path)
    try:
        import socket
        socket.socket(socket.AF_INET)
        log("DID open a socket")
    except OSError:
        log("TRIED a socket")


log(f"start {os.getpid()}")
if WHAT == "dead":
    print("no licence\x1b[2J", file=sys.stderr)
    os._exit(3)
cancelled = False
while True:
    message = receive()
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        if WHAT == "stuck":
            time.sleep(10_000)
        if WHAT == "attack":
            attack(params["workspaceFolders"][0]["uri"].removeprefix("file://"))
        pulls = {"diagnosticProvider": {"interFileDependencies": False}} if WHAT in ("pull", "later") else {}
        log(f"options {json.dumps(params.get('initializationOptions'))}")
        send({"id": message["id"], "result": {"capabilities": pulls}})
        send({"id": 1, "method": "workspace/configuration", "params": {"items": [{}]}})
        if WHAT == "deaf":
            time.sleep(10_000)
    elif method == "textDocument/didOpen":
        document = params["textDocument"]
        log(f"opens {document['languageId']}")
        changed(document["uri"], document["version"], document["text"])
    elif method == "textDocument/didChange":
        document = params["textDocument"]
        changed(document["uri"], document["version"], params["contentChanges"][0]["text"])
    elif method == "textDocument/didClose":
        log(f"closes {params['textDocument']['uri'].rsplit('/', 1)[1]}")
    elif method == "workspace/didChangeWatchedFiles":
        for change in params["changes"]:
            log(f"event {change['type']} {change['uri'].rsplit('/', 1)[1]}")
    elif method == "textDocument/diagnostic":
        if WHAT == "later" and not cancelled:
            cancelled = True
            send({"id": message["id"], "error": {"code": -32802, "message": "later"}})
            continue
        items = problems(FILES[params["textDocument"]["uri"]])
        send({"id": message["id"], "result": {"kind": "full", "items": items}})
