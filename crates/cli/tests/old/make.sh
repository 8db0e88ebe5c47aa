#!/bin/bash
# Makes the test data of this folder with the program of one version. See README.md.
#
#   make.sh PATH_OF_RETAKE OUTPUT_FOLDER
#
# `settings.toml` beside this script is only read.
# Needs sqlite3, curl and python3. Works in /tmp/project and /tmp/retake-home, which must not exist.
set -euo pipefail
program=$(realpath "$1")
settings=$(realpath "$(dirname "$0")/settings.toml")
out=$(realpath -m "$2")
[ ! -e /tmp/project ] && [ ! -e /tmp/retake-home ]
mkdir -p /tmp/project /tmp/retake-home "$out"
cd /tmp/project
export HOME=/tmp/retake-home USER=ada LOGNAME=ada TZ=UTC LANG=C.UTF-8 NO_COLOR=1
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR RETAKE_DATA_DIR RETAKE_CONFIG
unset ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY
printf '[model]\ndefault = "demo"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n' > "$HOME/config.toml"
data=$HOME/data config=$HOME/config.toml

retake() { "$program" --data-dir "$data" --config "$config" "$@"; }

# Runs a command, and appends a line to the file of that name: the arguments, the exit code, and each JSON document that it printed.
record() {
  local file=$1
  shift
  python3 - "$out/$file" "$program" --data-dir "$data" --config "$config" --json "$@" << 'END'
import json, subprocess, sys
file, command = sys.argv[1], sys.argv[2:]
done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
printed = [json.loads(line) for line in done.stdout.splitlines()]
line = {"arguments": command[5:], "code": done.returncode, "printed": printed}
open(file, "a").write(json.dumps(line, ensure_ascii=False) + "\n")
END
}
# Appends a line with every file of the folder.
record_files() {
  python3 -c 'import json, os, sys; print(json.dumps({"files": {name: open(name).read() for name in sorted(os.listdir("."))}}))' >> "$out/$1"
}
# A request with an id: the same words have to get the same receipt for ever.
request() { record requests.jsonl "$@"; }
last() { retake --json list | python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["conversations"][0]["id"])'; }
api() {
  curl -sS --fail-with-body --unix-socket "$data/owner.sock" -H "Authorization: Bearer $(cat "$data/token")" \
    -H 'Content-Type: application/json' -X "$1" "http://localhost$2" -d "$3"
}

rm -rf "$out"/*
printf 'one\ntwo\nthree\n' > notes.txt

# Settings: the program of then finds nothing wrong in them.
config=$settings
retake config check
python3 - "$settings" > "$HOME/keys" << 'END'
import sys, tomllib
def keys(table, above):
    for name, value in table.items():
        part = f'"{name}"' if "/" in name else name
        yield from keys(value, above + [part]) if isinstance(value, dict) else [".".join(above + [part])]
print("\n".join(keys(tomllib.load(open(sys.argv[1], "rb")), [])))
END
while read -r key; do record settings.jsonl config get "$key"; done < "$HOME/keys"
config=$HOME/config.toml

# The first conversation: files, a rewind, undo and redo, an edit, a retry, a fold, a label, a title.
request new --title 'Work on notes' --request-id old-new
one=$(last)
request ask --conversation $one --mode allow-all 'write a.txt: alpha' --request-id old-ask
request exec --conversation $one --say 'append a line' --request-id old-exec -- sh -c 'echo four >> notes.txt'
request ask --conversation $one --mode allow-all 'read notes.txt, then write b.txt: beta' --request-id old-tools
request rewind --conversation $one t3 --yes --request-id old-rewind
request undo --conversation $one --request-id old-undo
request undo --conversation $one 2 --request-id old-undo-2
request redo --conversation $one 2 --request-id old-redo
request say --conversation $one --author bob --observed 'seen in passing' --request-id old-say
request label --conversation $one t1 begin --request-id old-label
request label --conversation $one t1 begin --request-id old-label-again
request fold --conversation $one --summary 'The first file was written.' --from t1 --to t2 --request-id old-fold
request ask --conversation $one 'one apple' --request-id old-answer
request retry --conversation $one --request-id old-retry
request choose --conversation $one @ 1 --request-id old-choose
request edit --conversation $one t4 'two pears' --yes --request-id old-edit
request title --conversation $one 'Notes and letters' --request-id old-title
request checkpoint named --conversation $one
request files restore a.txt --to t1 --conversation $one --request-id old-files

# A fork of it, with an image and a mark.
request fork --conversation $one t2 --title 'Another way' --request-id old-fork
fork=$(last)
request say --conversation $fork --json-content '[{"type":"text","text":"a picture"},{"type":"image","media_type":"image/png","data":"iVBORw0KGgo="}]' --request-id old-json
request ask --conversation $fork 'three plums'

# Marks and a drop of a turn with its files.
request new --request-id old-second
two=$(last)
request exec --conversation $two --say 'make c' --request-id old-c -- sh -c 'echo c > c.txt'
request exec --conversation $two --say 'make d' --request-id old-d -- sh -c 'echo d > d.txt; rm -f a.txt'
request say --conversation $two 'a secret plan'
request say --conversation $two 'a long aside'
request drop --conversation $two t1 --request-id old-drop
request hide --conversation $two t3 --request-id old-hide
request exclude --conversation $two t4 --request-id old-exclude
request restore --conversation $two 1.8 --request-id old-restore
request undo --conversation $two --request-id old-undo-restore
request show --conversation $two t3 --request-id old-show
request hide --conversation $two t3 --request-id old-hide-again

# A command that reached the network, taken back: the same one again is reported.
request new --title 'Outside' --request-id old-third
three=$(last)
request ask --conversation $three --mode allow-all 'run `true` with network' --request-id old-network
request rewind --conversation $three t1 --yes --request-id old-rewind-network

# Put away, with a draft and a permission.
request new --title 'Put away' --request-id old-fourth
four=$(last)
request say --conversation $four 'for later'
request archive --conversation $four
text() { printf '{"author":"ada","parts":[{"type":"text","text":"%s"}]%s}' "$1" "${2:-}"; }
api PUT /v1/conversations/$one/draft "$(text 'what I was about to say')" > /dev/null
api PUT /v1/draft "$(text 'a first message' ',"folder":"/tmp/project"')" > /dev/null
api PATCH /v1/conversations/$one/permissions '{"mode":"allow-edits","add":["allow shell(git status)","deny fetch(example.org)"]}' > /dev/null

# Lists of chat messages.
printf '{"role":"user","content":"hello"}\n{"role":"assistant","content":"good day"}\n' > /tmp/retake-home/chat.jsonl
request import /tmp/retake-home/chat.jsonl --title 'From elsewhere' --request-id old-import
five=$(last)

# Requests of the API, which name no folder: a line each with path, body and what was answered.
record_api() {
  local answer
  answer=$(api POST "$1" "$2")
  python3 - "$out/api.jsonl" "$1" "$2" "$answer" << 'END'
import json, sys
file, path, body, answer = sys.argv[1:]
lines = [line.removeprefix("data:") for line in answer.splitlines() if line.startswith(("data:", "{"))]
line = {"path": path, "body": json.loads(body), "printed": [json.loads(line) for line in lines]}
open(file, "a").write(json.dumps(line, ensure_ascii=False) + "\n")
END
}
record_api /v1/conversations '{"title":"By the API","request_id":"old-create"}'
six=$(python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["printed"][0]["conversation"])' "$out/api.jsonl")
run() { record_api /v1/runs "{\"conversation\":\"$six\",$1}"; }
run '"start":"say","parts":[{"type":"text","text":"four figs"}],"request_id":"old-run"'
run '"start":"retry","entry":"@","request_id":"old-run-retry"'
run '"start":"edit","entry":"t1","parts":[{"type":"text","text":"five figs"}],"request_id":"old-run-edit"'
record_api "/v1/conversations/$six/operations" '{"action":"undo","count":1,"request_id":"old-api-undo"}'

# What is kept: the store as the program itself copies it, the objects, the exports.
for conversation in $one $fork $two $three $four $five $six; do
  for verb in log tree ops hidden targets; do
    record readings.jsonl $verb --conversation $conversation
  done
done
record readings.jsonl list
record readings.jsonl list --archived
record readings.jsonl search four
record readings.jsonl search picture
for name in one fork two three four five; do
  retake export --conversation ${!name} --output "$out/$name.jsonl"
done
for name in one two three four five; do
  retake export --conversation ${!name} --full --output "$out/$name.full.jsonl"
done
retake stop > /dev/null
retake backup "$HOME/copy.db" > /dev/null
retake stop > /dev/null
sqlite3 "$HOME/copy.db" 'VACUUM INTO "'"$out/retake.db"'"'
record_files files.jsonl
cp -r "$data/objects" "$out/objects"

# After the copy: back and forward through all of it.
step() { record steps.jsonl "$@"; record_files steps.jsonl; }
back_and_forward() {
  for _ in $(seq "$2"); do step undo --conversation "$1"; done
  for _ in $(seq "$2"); do step redo --conversation "$1"; done
}
back_and_forward "$one" 7
back_and_forward "$two" 7
back_and_forward "$three" 3

# The call that reached the network and was taken back, again: the program says so, and wants an approval.
record repeated.jsonl ask --conversation $three --mode allow-all 'run `true` with network'
retake stop > /dev/null
