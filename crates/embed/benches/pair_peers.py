#!/usr/bin/env python3
"""Scores the same pairs with the same weights here and in sentence-transformers' CrossEncoder.

    pip install torch==2.13.0 sentence-transformers transformers
    cargo xtask with-torch --all-torch -- build --example pair_speed
    LD_LIBRARY_PATH=LIBTORCH/lib python pair_peers.py MODELS/all-MiniLM-L6-v2 CORPUS.jsonl QUERIES.jsonl

MODELS/all-MiniLM-L6-v2 is an embedding model; a head of random weights (seed 0) is put on it, because
what is timed does not depend on what the weights say. CORPUS.jsonl and QUERIES.jsonl are in the BEIR
layout; each of the first queries gets 50 passages, drawn with a seed. Both systems take turns in each
round; ratios are of the same round. The scores are compared, so that nobody is fast by being wrong.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("base")
arguments.add_argument("corpus")
arguments.add_argument("queries")
arguments.add_argument("--count", type=int, default=10)
arguments.add_argument("--documents", type=int, default=50)
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--threads", type=int, default=2)
arguments.add_argument("--rust", default="target/release/examples/pair_speed")
arguments = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = str(arguments.threads)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from sentence_transformers import CrossEncoder  # noqa: E402
from transformers import AutoModelForSequenceClassification, AutoTokenizer  # noqa: E402

torch.set_num_threads(arguments.threads)
BATCH = 32


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


draw = random.Random(0)
corpus = [f"{line.get('title', '')}\n{line['text']}" for line in lines(arguments.corpus)]
asked = [{"query": line["text"], "documents": draw.sample(corpus, arguments.documents)}
         for line in lines(arguments.queries)[:arguments.count]]
work = pathlib.Path(tempfile.mkdtemp())
model = work / "pair"
torch.manual_seed(0)
AutoModelForSequenceClassification.from_pretrained(arguments.base, num_labels=1).save_pretrained(model)
AutoTokenizer.from_pretrained(arguments.base).save_pretrained(model)
pairs = work / "pairs.json"
pairs.write_text(json.dumps(asked), encoding="utf-8")
out = work / "scores.f32"

rust = subprocess.Popen([arguments.rust, str(model), str(pairs), str(arguments.threads), str(out)],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
rust.stdout.readline()
peer = CrossEncoder(str(model), device="cpu", max_length=512)
theirs = []


def ours():
    rust.stdin.write("go\n")
    rust.stdin.flush()
    return json.loads(rust.stdout.readline())["seconds"]


def them():
    theirs.clear()
    start = time.perf_counter()
    for item in asked:
        inputs = [(item["query"], document) for document in item["documents"]]
        theirs.extend(peer.predict(inputs, batch_size=BATCH, activation_fn=torch.nn.Identity()))
    return time.perf_counter() - start


measured = {"cornu": [], "sentence-transformers": []}
for turn in range(arguments.rounds + 1):
    systems = [("cornu", ours), ("sentence-transformers", them)]
    for name, run in systems if turn % 2 else reversed(systems):
        seconds = run()
        if turn:  # the first round warms up
            measured[name].append(seconds)
rust.stdin.close()
rust.wait()
difference = np.abs(np.fromfile(out, dtype="<f4") - np.array(theirs, dtype=np.float32)).max()
ratios = [them / ours for ours, them in zip(measured["cornu"], measured["sentence-transformers"])]
count = len(asked) * arguments.documents
json.dump({
    "pairs": count, "threads": arguments.threads, "rounds": arguments.rounds, "load": os.getloadavg()[0],
    "pairs_per_second": {name: round(count / statistics.median(seconds), 1)
                         for name, seconds in measured.items()},
    "over_cornu": {"median": round(statistics.median(ratios), 3), "min": round(min(ratios), 3),
                   "max": round(max(ratios), 3)},
    "largest_difference_of_scores": float(difference),
}, sys.stdout, indent=1)
print()
