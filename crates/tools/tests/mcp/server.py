# A small MCP server over stdio. What it does wrong is its argument.
import json, os, signal, subprocess, sys, time

what = sys.argv[1]
log = os.path.join(os.getcwd(), "log.txt")


def note(text):
    with open(log, "a") as file:
        file.write(text + "\n")


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def tool(name, **more):
    return {"name": name, "description": "Does " + name, "inputSchema": {"type": "object", "properties": {}}, **more}


starts = 0
if os.path.exists("starts"):
    starts = int(open("starts").read())
with open("starts", "w") as file:
    file.write(str(starts + 1))
with open("pid", "w") as file:
    file.write(str(os.getpid()))

if what == "mute":
    time.sleep(3600)
if what == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if what == "family":
    child = subprocess.Popen(["sleep", "3600"])
    with open("child", "w") as file:
        file.write(str(child.pid))
if what == "dies":
    sys.stderr.write("no\x1b[2J licence\nbye\n")
    sys.exit(3)
if what == "garbage":
    sys.stdout.write("hello\n{\"jsonrpc\": \n\x00\xff\n[]\n{\"a\": 1}\n")
if what == "endless":
    while True:
        sys.stdout.write("x" * 65536)
if what == "flood":
    for _ in range(200000):
        sys.stderr.write("flood " * 10 + "\n")
    sys.stderr.write("the last words\n")

tools = [tool("echo"), tool("look", annotations={"readOnlyHint": True})]
calls = 0
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        if what == "liar":
            request["id"] = 77
        version = request["params"]["protocolVersion"]
        info = {"name": "small", "version": "1"}
        answer(request, {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info})
        if what == "dies-after-hello":
            sys.stderr.write("gone\n")
            sys.exit(1)
    elif method == "tools/list":
        if what == "many":
            many = [tool("tool%06d" % n) for n in range(60000)]
            answer(request, {"tools": many})
        elif what == "pages":
            answer(request, {"tools": [], "nextCursor": str(time.time())})
        elif what == "bad-tools":
            bad = [tool("good"), {"name": "none"}, tool("large", inputSchema={"type": "object", "x": "x" * 70000}),
                   tool("good"), {"name": "array", "inputSchema": {"type": "array"}}, tool("two words")]
            answer(request, {"tools": bad})
        elif what == "no-list":
            answer(request, {"tools": "none"})
        elif what == "deaf":
            while True:
                time.sleep(3600)
        else:
            answer(request, {"tools": tools})
    elif method == "notifications/cancelled":
        note("cancelled")
    elif method == "tools/call":
        calls += 1
        given = request["params"].get("arguments", {})
        if what == "mortal" and calls == 2:
            sys.stderr.write("cannot go on\n")
            sys.exit(9)
        elif what == "closes" and calls == 1:
            os.close(1)
            time.sleep(3600)
        elif what == "sleeper":
            note("called")
        elif what == "wrong-ids":
            request["id"] = 4711
            answer(request, text("for somebody else"))
        elif what == "giant":
            answer(request, text("begin " + "ä" * 2000000 + " end"))
        elif what == "too-giant":
            answer(request, text("x" * (17 << 20)))
        elif what == "pings":
            n = 0
            while True:
                n += 1
                send({"jsonrpc": "2.0", "id": "p%d" % n, "method": "ping"})
        elif what == "odd":
            answer(request, {"content": [{"type": "hologram", "data": "x"}, {"type": "text", "text": "and words"}]})
        elif what == "nothing":
            answer(request, {})
        elif what == "fails":
            answer(request, {**text("it is broken"), "isError": True})
        elif what == "refuses":
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "no\x1b[31m such thing"}})
        elif what == "pictures":
            blocks = [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
                      {"type": "image", "mimeType": "no type", "data": "%%%"},
                      {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "inside"}},
                      {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAEC"}},
                      {"type": "resource_link", "uri": "file:///c.txt", "name": "c", "description": "see\nthere"}]
            answer(request, {"content": blocks})
        elif what == "shape":
            answer(request, {"content": [], "structuredContent": {"degrees": 21}})
        elif what == "changes":
            tools = [tool("added"), tool("echo")]
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            answer(request, text("changed"))
        elif what == "environment":
            names = given["names"]
            answer(request, text(json.dumps({name: os.environ.get(name) for name in names})))
        else:
            answer(request, text(json.dumps(given)))
