"""A store that speaks S3's protocol, moto's, with the bucket `evals`."""

import http.client
import pathlib
import subprocess

from desk import free_port, until


# moto believes any signature, and refuses who has none.
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x",
}


class Store:
    """A server that lives until `close`; `variables` are what closeread finds it and its credentials by."""

    def __init__(self, program):
        self.port = free_port()
        self.variables = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_REGION": "us-east-1", "CLOSEREAD_SYNC_SECONDS": "1",
            "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "geheim",
        }
        command = [program, "-H", "127.0.0.1", "-p", str(self.port)]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("the store", lambda: self.ask("PUT", "")[0] == 200)

    def ask(self, method, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request(method, f"/evals{name}", headers=SIGNED)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return None, b""
        finally:
            connection.close()

    def read(self, address):
        """The object of an address as closeread takes it."""
        status, body = self.ask("GET", address.removeprefix("s3://evals"))
        if status != 200:
            raise SystemExit(f"{address}: {status}")
        return body.decode()

    def close(self):
        self.server.kill()
        self.server.wait()


def moto(beside):
    """The program, in what `cargo xtask test --install` makes beside the folder of an engine."""
    return pathlib.Path(beside).resolve().parent / "stores/bin/moto_server"
