"""Serves a model over HTTP by llama.cpp's own server, on 127.0.0.1 at a free port, until standard input closes.

    serve.py MODEL.gguf TEMPLATE.jinja

Prints `READY http://127.0.0.1:PORT` once it accepts requests. It exits at the end of standard input, so that a test cannot
leave it running, however the test ends.
"""

import os
import pathlib
import sys

import xllamacpp


def parameters(model: str, template: str) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"smollm2-135m"}
    # The model's own template does not support tools and drops them silently.
    params.chat_template = pathlib.Path(template).read_text(encoding="utf-8")
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    # Requests run one after the other, so that the cache content and the cached tokens are deterministic.
    params.n_parallel = 1
    # On a busy machine, several threads would wait for each other longer than they compute.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    # A limit for tests that set none.
    params.n_predict = 256
    return params


def main() -> None:
    _, model, template = sys.argv
    server = xllamacpp.Server(parameters(model, template))
    print("READY", server.listening_address, flush=True)
    sys.stdin.read()
    # Immediately: a pending answer has no reader any more.
    os._exit(0)


main()
