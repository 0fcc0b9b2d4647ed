#!/usr/bin/env bash
# Runs scripts/get_gpt2 against a server on this machine's loopback. Status 77 where there
# is no python3 to serve.

set -euo pipefail
get=$(realpath "$(dirname "$0")/../../scripts/get_gpt2")
command -v python3 >/dev/null || exit 77
export no_proxy='*' NO_PROXY='*'

work=$(mktemp -d)
server=''
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
cd "$work"

failures=0
# expect WHAT CONDITION...
expect() {
    local what=$1
    shift
    if "$@"; then return; fi
    echo "FAILED: $what"
    cat output errors
    failures=$((failures + 1))
}
# run STATUS ARGUMENT...: the script must end with that status, and with one line of error.
run() {
    local wanted=$1 status=0
    shift
    "$get" "$@" >output 2>errors || status=$?
    expect "$* ends with $wanted, not $status" [ "$status" -eq "$wanted" ]
    if [ "$wanted" -ne 0 ]; then
        expect "$* says why in one line" [ "$(wc -l <errors)" -eq 1 ]
    fi
}
says() { grep -qhF -- "$1" output errors; }
same() { diff -rq "$1" "$2" >/dev/null; }

# A small tree with the server's paths.
site=site/openai-community
main=$site/gpt2-medium/resolve/main
mkdir -p "$main" site/distilbert/distilgpt2/resolve
python3 - "$main" <<'PYTHON'
import json, os, struct, sys
main = sys.argv[1]
header = json.dumps({"wte.weight": {"dtype": "F32", "shape": [50000], "data_offsets": [0, 200000]},
                     "b": {"dtype": "F32", "shape": [1], "data_offsets": [200000, 200004]}})
data = bytes(i * 37 % 251 for i in range(200004))
with open(os.path.join(main, "model.safetensors"), "wb") as out:
    out.write(struct.pack("<Q", len(header)) + header.encode() + data)
for name, text in (("config.json", "{}\n"), ("vocab.json", '{"a": 0}'), ("merges.txt", "#version\n")):
    with open(os.path.join(main, name), "w") as out:
        out.write(text)
PYTHON
cp -r "$main" site/distilbert/distilgpt2/resolve/main
cp -r $site/gpt2-medium $site/gpt2
cp -r $site/gpt2-medium $site/gpt2-large
truncate -s -5 $site/gpt2-large/resolve/main/model.safetensors
mkdir -p $site/gpt2-xl/resolve/main
echo '<html>' >$site/gpt2-xl/resolve/main/config.json

# http.server, with ranges (unless the path has "whole" in it), and a connection that
# breaks after 50,000 bytes while the file "break" is there, and waits there while the
# file "slow" is.
cat >serve.py <<'PYTHON'
import http.server, os, re, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        path = self.translate_path(self.path)
        with open("../requests", "a") as log:
            log.write(f"{self.path} {self.headers.get('Range')}\n")
        if not os.path.isfile(path):
            return self.send_error(404)
        data = open(path, "rb").read()
        match = re.match(r"bytes=(\d+)-$", self.headers.get("Range") or "")
        first = int(match[1]) if match and "whole" not in self.path else 0
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        part, rest = data[first:first + 50000], data[first + 50000:]
        self.wfile.write(part)
        while rest and os.path.exists("../slow"):
            time.sleep(0.05)
        if not os.path.exists("../break"):
            self.wfile.write(rest)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("../port.part", "w") as out:
    out.write(str(server.server_port))
os.rename("../port.part", "../port")
server.serve_forever()
PYTHON
# Starts a program in a group of its own, which hears SIGINT: a shell's background does not.
cat >on_its_own.py <<'PYTHON'
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.setsid()
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
ln -s . site/whole
(cd site && exec python3 ../serve.py 2>/dev/null) &
server=$!
for _ in $(seq 100); do
    if [ -f port ]; then break; fi
    sleep 0.1
done
mirror=http://127.0.0.1:$(cat port)

run 2 gpt3
expect "the names are listed" says "distilgpt2, found 'gpt3'"
run 2 gpt2 gpt2-xl
run 2 --mirror
run 0 --help

for client in curl wget; do
    command -v $client >/dev/null || continue
    export GPT2_FETCH=$client

    run 0 gpt2-medium --dir out --mirror "$mirror/"
    expect "all files come" same "$main" out
    expect "it says what was not checked" says "size as its header says; sha256 not known"
    : >requests
    run 0 gpt2-medium --dir out --mirror "$mirror"
    expect "nothing is fetched twice" [ ! -s requests ]
    rm -rf out
    run 0 distilgpt2 --dir out --mirror "$mirror"
    expect "distilgpt2 has its own owner" same "$main" out
    rm -rf out

    touch break
    run 1 gpt2-medium --dir out --mirror "$mirror"
    expect "it can go on" says "run this again to go on"
    expect "no broken file gets its name" [ ! -e out/model.safetensors ]
    expect "what came is kept" [ "$(wc -c <out/model.safetensors.part)" -eq 50000 ]
    rm break
    : >requests
    run 0 gpt2-medium --dir out --mirror "$mirror"
    expect "the resumed file is whole" same "$main" out
    expect "it went on" grep -q 'bytes=50000-' requests
    rm out/model.safetensors
    head -c 60000 "$main/model.safetensors" >out/model.safetensors.part
    run 0 gpt2-medium --dir out --mirror "$mirror/whole"
    expect "a server without ranges starts again" same "$main" out
    rm out/model.safetensors
    cp "$main/model.safetensors" out/model.safetensors.part
    run 0 gpt2-medium --dir out --mirror "$mirror"
    expect "a whole part is taken as it is" same "$main" out
    rm out/model.safetensors
    (cat "$main/model.safetensors" && echo more) >out/model.safetensors.part
    run 0 gpt2-medium --dir out --mirror "$mirror"
    expect "a part that is too long is thrown away" same "$main" out
    rm -rf out

    # Ended in the middle, by itself or with all that it started, and killed.
    for signal in TERM INT HUP KILL; do
        touch slow
        python3 "$work/on_its_own.py" "$get" gpt2-medium --dir out --mirror "$mirror" >output 2>errors &
        script=$!
        for _ in $(seq 200); do
            if [ "$(cat out/model.safetensors.part.* 2>/dev/null | wc -c)" -ge 40000 ]; then
                break
            fi
            sleep 0.05
        done
        if [ $signal = INT ]; then kill -s INT -- -$script; else kill -s $signal $script; fi
        status=0
        wait $script 2>/dev/null || status=$?
        expect "SIG$signal ends it, not $status" [ $status -gt 128 ]
        expect "no half file gets its name" [ ! -e out/model.safetensors ]
        if [ $signal = KILL ]; then
            kill -s KILL -- -$script 2>/dev/null || true
        else
            expect "SIG$signal: it can go on" says "run this again to go on"
            expect "SIG$signal: what came is kept" \
                [ "$(wc -c <out/model.safetensors.part)" -ge 40000 ]
        fi
        rm slow
        : >requests
        run 0 gpt2-medium --dir out --mirror "$mirror"
        expect "SIG$signal: the resumed file is whole" same "$main" out
        expect "SIG$signal: it went on" grep -qE 'bytes=[1-9]' requests
        rm -rf out
    done

    touch slow
    "$get" gpt2-medium --dir out --mirror "$mirror" >output 2>errors &
    first=$!
    "$get" gpt2-medium --dir out --mirror "$mirror" >output2 2>errors2 &
    second=$!
    sleep 1
    rm slow
    for one in $first $second; do
        status=0
        wait $one || status=$?
        expect "one of two at once ends with 0, not $status" [ $status -eq 0 ]
    done
    expect "two at once leave whole files and nothing else" same "$main" out
    rm -rf out

    run 1 gpt2-large --dir out --mirror "$mirror"
    expect "a truncated file is seen" says "model.safetensors: expected "
    expect "and not kept" [ ! -e out/model.safetensors -a ! -e out/model.safetensors.part ]
    rm -rf out
    run 1 gpt2 --dir out --mirror "$mirror"
    expect "a wrong sum is seen" says "vocab.json: expected sha256 1961"
    expect "and not kept" [ ! -e out/vocab.json -a ! -e out/vocab.json.part ]
    rm -rf out
    run 1 gpt2-xl --dir out --mirror "$mirror"
    expect "an HTML page is no config.json" says "config.json: expected JSON"
    rm -rf out
    run 1 gpt2 --dir out --mirror "$mirror/nowhere"
    expect "a missing file is named" says "/nowhere/openai-community/gpt2/resolve/main/config.json"
    rm -rf out

    run 77 gpt2 --dir out --mirror http://127.0.0.1:1
    expect "offline is said" says "cannot be reached"
    expect "offline leaves nothing" [ ! -e out ]
done

if [ "$failures" -gt 0 ]; then
    echo "$failures failed"
    exit 1
fi
echo "all passed"
