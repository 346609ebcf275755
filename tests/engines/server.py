"""A chat server that answers by a hash of the prompt, and holds prompts that contain a word until it is told to go on."""

import hashlib
import http.server
import json
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.held = None
        self.goes_on = threading.Event()
        self.asked = 0
        self.waiting = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def hold(self, word):
        """From now on prompts with this word get no answer."""
        self.goes_on.clear()
        self.held = word

    def release(self):
        self.held = None
        self.goes_on.set()

    def handle_error(self, request, client_address):
        """Clients are killed here on purpose."""


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        prompt = json.dumps(json.loads(body)["messages"])
        self.server.asked += 1
        if self.server.held and self.server.held in prompt:
            self.server.waiting += 1
            self.server.goes_on.wait()
            self.server.waiting -= 1
        choice = hashlib.sha256(prompt.encode()).digest()[0] % 4
        answer = json.dumps({
            "id": "held", "object": "chat.completion", "model": "steady",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": f"[[{choice + 1}]]"}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103},
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Nothing is logged."""
