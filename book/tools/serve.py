"""Serves build/book on this machine alone: serve.py PORT"""

import functools
import http.server
import pathlib
import sys
import webbrowser

BOOK = pathlib.Path(__file__).resolve().parents[2] / "build/book"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def end_headers(self):  # a page built anew is seen at the next reload
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def main(port):
    try:
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", port), functools.partial(Quiet, directory=str(BOOK)))
    except OSError as fault:
        print(f"site: cannot serve on port {port}: {fault.strerror}", file=sys.stderr)
        return 2
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"Serving the book at {address} (Ctrl-C stops it)", flush=True)
    webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
