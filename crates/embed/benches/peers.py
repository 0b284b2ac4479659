#!/usr/bin/env python3
"""Embedding speed beside sentence-transformers and onnxruntime: the same weights, texts and threads,
interleaved, so that what else the machine does hits all alike.

    pip install torch==2.13.0 sentence-transformers onnxruntime onnx
    cargo build --release -p cornu-embed --features torch --example embed_speed
    python crates/embed/benches/peers.py MODEL_FOLDER TEXTS.json [--rounds 5] [--threads 2] \\
        [--rust target/release/examples/embed_speed]

TEXTS.json is an array of strings. Each round runs every system once, in rotating order: all texts in
one call, then 20 single queries. Reported are the medians over rounds, their range, the CPU seconds
(which a busy machine disturbs less than the wall clock), and each peer's time over ours.

A peer that is not installed is skipped, loudly. Peers run as their users run them: batches of 32,
sorted by length, padded to the longest of the batch, cut at the model's own limit. The vectors are
compared, so that nobody is fast by being wrong.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("model")
arguments.add_argument("texts")
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--threads", type=int, default=2)
arguments.add_argument("--rust", default="target/release/examples/embed_speed")
arguments = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
os.environ["TOKENIZERS_PARALLELISM"] = "true"

import numpy as np  # noqa: E402

TEXTS = json.loads(pathlib.Path(arguments.texts).read_text(encoding="utf-8"))
QUERIES = ["what is a gradient", "who owns the company", "how do I reset the optimizer state",
           "capital of the country where the film was made"] * 5
BATCH = 32


def own_cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Rust:
    name = "cornu"

    def __init__(self):
        self.out = tempfile.NamedTemporaryFile(suffix=".f32")
        self.process = subprocess.Popen(
            [arguments.rust, arguments.model, arguments.texts, str(arguments.threads), self.out.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        json.loads(self.process.stdout.readline())

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["seconds"]

    def batch(self):
        return self.ask("batch")

    def query(self, text):
        return self.ask(text)

    def vectors(self):
        self.process.stdin.close()
        self.process.wait()
        return np.fromfile(self.out.name, dtype="<f4").reshape(len(TEXTS), -1)


class SentenceTransformers:
    name = "sentence-transformers"
    cpu = staticmethod(own_cpu)

    def __init__(self):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(arguments.threads)
        self.model = SentenceTransformer(arguments.model, device="cpu")

    def batch(self):
        start = time.perf_counter()
        self.out = self.model.encode(TEXTS, batch_size=BATCH, normalize_embeddings=True)
        return time.perf_counter() - start

    def query(self, text):
        start = time.perf_counter()
        self.model.encode([text], normalize_embeddings=True)
        return time.perf_counter() - start

    def vectors(self):
        return self.out


class OnnxRuntime:
    name = "onnxruntime"
    cpu = staticmethod(own_cpu)

    def __init__(self):
        import onnxruntime
        import torch
        from transformers import AutoModel, AutoTokenizer

        folder = pathlib.Path(arguments.model)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.limit = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
        model = AutoModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False).eval()

        class States(torch.nn.Module):
            """The export traces this: keyword arguments, and the mask as an additive term."""

            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, input_ids, attention_mask, token_type_ids):
                mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * -10000.0
                return self.model(input_ids=input_ids, attention_mask=mask, token_type_ids=token_type_ids,
                             use_cache=False).last_hidden_state

        # Beside the model's cache, not in it.
        self.folder = tempfile.TemporaryDirectory()
        path = str(pathlib.Path(self.folder.name) / "model.onnx")
        example = self.tokenizer(["an example", "another example text"], padding=True, return_tensors="pt")
        names = ["input_ids", "attention_mask", "token_type_ids"]
        axes = {name: {0: "batch", 1: "tokens"} for name in [*names, "states"]}
        torch.onnx.export(States().eval(), tuple(example[name] for name in names), path, input_names=names,
                          output_names=["states"], dynamic_axes=axes, opset_version=17, dynamo=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        optimised = path
        try:
            from onnxruntime.transformers import optimizer

            fused = optimizer.optimize_model(path, model_type="bert", num_heads=model.config.num_attention_heads,
                                             hidden_size=model.config.hidden_size)
            optimised = str(pathlib.Path(self.folder.name) / "fused.onnx")
            fused.save_model_to_file(optimised)
            print("onnxruntime: fused operators:", fused.get_fused_operator_statistics(), file=sys.stderr)
        except Exception as error:  # the plain graph is still optimised by the session
            print("onnxruntime: its transformer optimiser was not used:", error, file=sys.stderr)
        self.session = onnxruntime.InferenceSession(optimised, options, providers=["CPUExecutionProvider"])

    def embed(self, texts):
        tokens = self.tokenizer(texts, padding=True, truncation=True, max_length=self.limit, return_tensors="np")
        inputs = {item.name: tokens[item.name].astype(np.int64) for item in self.session.get_inputs()}
        states = self.session.run(None, inputs)[0]
        mask = tokens["attention_mask"][..., None].astype(np.float32)
        pooled = (states * mask).sum(1) / mask.sum(1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def batch(self):
        start = time.perf_counter()
        order = np.argsort([-len(text) for text in TEXTS], kind="stable")
        parts = [self.embed([TEXTS[i] for i in order[at:at + BATCH]]) for at in range(0, len(TEXTS), BATCH)]
        self.out = np.empty((len(TEXTS), parts[0].shape[1]), dtype=np.float32)
        self.out[order] = np.concatenate(parts)
        return time.perf_counter() - start

    def query(self, text):
        start = time.perf_counter()
        self.embed([text])
        return time.perf_counter() - start

    def vectors(self):
        return self.out


systems = []
for kind in (Rust, SentenceTransformers, OnnxRuntime):
    try:
        systems.append(kind())
    except (ImportError, FileNotFoundError) as error:
        print(f"SKIPPED {kind.name}: {error}", file=sys.stderr)
measured = {system.name: {"batch_s": [], "cpu_s": [], "query_ms": []} for system in systems}
for turn in range(arguments.rounds + 1):
    for at in range(len(systems)):
        system = systems[(at + turn) % len(systems)]
        before = system.cpu()
        seconds = system.batch()
        used = system.cpu() - before
        queries = statistics.median(system.query(query) for query in QUERIES) * 1e3
        if turn:  # the first round warms up
            row = measured[system.name]
            row["batch_s"].append(seconds)
            row["cpu_s"].append(used)
            row["query_ms"].append(queries)
vectors = {system.name: system.vectors() for system in systems}
ours = measured.get("cornu")
report = {"model": pathlib.Path(arguments.model).name, "texts": len(TEXTS), "threads": arguments.threads,
          "rounds": arguments.rounds, "load": os.getloadavg()[0], "systems": {}}
for name, row in measured.items():
    summary = {}
    for measure, values in row.items():
        summary[measure] = {"median": round(statistics.median(values), 4), "min": round(min(values), 4),
                            "max": round(max(values), 4)}
        if ours and name != "cornu":
            ratios = [theirs / mine for theirs, mine in zip(values, ours[measure])]
            summary[measure]["over_cornu"] = round(statistics.median(ratios), 3)
    if ours and name != "cornu":
        cosines = (vectors[name] * vectors["cornu"]).sum(1)
        summary["lowest_cosine_with_cornu"] = float(cosines.min())
    report["systems"][name] = summary
print(json.dumps(report, indent=1))
