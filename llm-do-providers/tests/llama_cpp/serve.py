"""Serves a model over HTTP by llama.cpp's own server, on 127.0.0.1 at a free port, until standard input closes.

    serve.py MODEL.gguf TEMPLATE.jinja

Prints `READY http://127.0.0.1:PORT` once requests are answered. That the end of standard input is the end of the server
lets no test leave one behind, however it ends itself.
"""

import os
import pathlib
import sys

import xllamacpp


def parameters(model: str, template: str) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"smollm2-135m"}
    # The model's own template knows no tools, and drops them without a word.
    params.chat_template = pathlib.Path(template).read_text(encoding="utf-8")
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    # One after the other: what is in the cache, and so what is counted as cached, is known.
    params.n_parallel = 1
    # More than one would wait for each other more than they compute, on a busy machine.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    # Whatever a test forgets to bound.
    params.n_predict = 256
    return params


def main() -> None:
    _, model, template = sys.argv
    server = xllamacpp.Server(parameters(model, template))
    print("READY", server.listening_address, flush=True)
    sys.stdin.read()
    # At once: an answer may be under way, and nobody is left to read it.
    os._exit(0)


main()
