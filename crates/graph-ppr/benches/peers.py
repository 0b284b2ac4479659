#!/usr/bin/env python3
"""Personalized PageRank beside igraph (PRPACK), scipy and scikit-network: the same graphs, seeds and
error, in one interleaved run, so that what else the machine does hits all alike.

    pip install igraph==1.0.0 scipy==1.17.1 scikit-network==0.33.5 numpy
    cargo build --release -p cornu-graph-ppr --example ppr_speed
    python crates/graph-ppr/benches/peers.py [--nodes 100000] [--entries 1000000] [--rounds 5] \\
        [--alpha 0.5] [--threads 1] [--order degree] [--rust target/release/examples/ppr_speed]

The graph is undirected with a power-law degree distribution (both ends of an edge drawn with
probability proportional to rank^-0.5, numbers shuffled), without weights; `--entries` counts matrix
entries, two an edge. Each round draws three seeds and runs every system once, in rotating order.

Peers run as their users run them: igraph takes its graph and returns a list (it copies the graph on
each call), scipy multiplies a float64 or float32 CSR matrix, made beforehand, until two iterates are
within the tolerance in L1, scikit-network is fitted with power iteration or push. Errors are L1
distances to our solution at 1e-14, which the tests hold against other libraries; `top_100` is the
overlap of the 100 best with it. Reported are medians over rounds. Every query of one round finds its
memory cold, after the others have run; "8 in a row" is what one of eight different queries costs.
"batches" compares eight queries one after the other with a batch of them, on this graph and on one of
a tenth, whose eight vectors fit a second-level cache where those of this one do not.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("--nodes", type=int, default=100_000)
arguments.add_argument("--entries", type=int, default=1_000_000)
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--alpha", type=float, default=0.5)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--order", default="degree", choices=["given", "degree", "rcm"])
arguments.add_argument("--skip", default="", help="names of peers to leave out, by comma")
arguments.add_argument("--rust", default="target/release/examples/ppr_speed")
arguments = arguments.parse_args()
for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = str(arguments.threads)

import numpy as np  # noqa: E402

N, ALPHA = arguments.nodes, arguments.alpha
rng = np.random.default_rng(14)


def edges(nodes, entries):
    """Distinct pairs, smaller number first."""
    share = np.arange(1, nodes + 1) ** -0.5
    cumulative = np.cumsum(share / share.sum())
    wanted = entries // 2
    found = np.empty(0, dtype=np.int64)
    while len(found) < wanted:
        ends = np.searchsorted(cumulative, rng.random((2, wanted + wanted // 4)) * cumulative[-1])
        low, high = ends.min(0).astype(np.int64), ends.max(0).astype(np.int64)
        keep = low != high
        found = np.unique(np.concatenate([found, low[keep] * nodes + high[keep]]))
    found = rng.choice(found, wanted, replace=False)
    names = rng.permutation(nodes)
    return np.stack([names[found // nodes], names[found % nodes]], axis=1)


EDGES = edges(N, arguments.entries)
folder = tempfile.TemporaryDirectory()
out_file = str(pathlib.Path(folder.name) / "scores.f64")


class Rust:
    def __init__(self, nodes, pairs):
        edge_file = str(pathlib.Path(folder.name) / f"{nodes}.u32")
        pairs.astype("<u4").tofile(edge_file)
        self.nodes = nodes
        self.process = subprocess.Popen(
            [arguments.rust, str(nodes), edge_file, out_file, arguments.order],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = json.loads(self.process.stdout.readline())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def run(self, command, seeds):
        answer = self.ask(f"{command} {','.join(map(str, seeds))}")
        return answer.pop("seconds"), np.fromfile(out_file, dtype="<f8"), answer

    def eight(self, seeds):
        """Seeds of eight queries, the given ones last."""
        return [",".join(map(str, (seeds + 7919 * at) % self.nodes)) for at in reversed(range(8))]

    def batch(self, command, seeds):
        lists = ";".join(self.eight(seeds))
        answer = self.ask(f"{command} {lists}")
        return answer.pop("seconds") / 8, np.fromfile(out_file, dtype="<f8"), answer


rust = Rust(N, EDGES)
systems = {"cornu f64 1e-10": lambda seeds: rust.run(f"solve f64 auto {ALPHA} 1e-10", seeds)}
systems["cornu f64 1e-10 power"] = lambda seeds: rust.run(f"solve f64 power {ALPHA} 1e-10", seeds)
systems["cornu f32 1e-6"] = lambda seeds: rust.run(f"solve f32 auto {ALPHA} 1e-6", seeds)
systems["cornu f64 1e-10 batch of 8"] = lambda seeds: rust.batch(f"batch f64 {ALPHA} 1e-10", seeds)
systems["cornu f32 1e-6 batch of 8"] = lambda seeds: rust.batch(f"batch f32 {ALPHA} 1e-6", seeds)
for epsilon in ("3e-5", "2e-5", "1e-5", "1e-6"):
    systems[f"cornu f32 push {epsilon}"] = (
        lambda seeds, epsilon=epsilon: rust.run(f"push f32 {ALPHA} {epsilon}", seeds))
systems["cornu f32 push 2e-5, 8 in a row"] = lambda seeds: rust.batch(f"push f32 {ALPHA} 2e-5", seeds)


def timed(run):
    start = time.perf_counter()
    scores = run()
    return time.perf_counter() - start, np.asarray(scores, dtype=np.float64), {}


def restart(seeds, dtype):
    r = np.zeros(N, dtype=dtype)
    r[seeds] = 1 / len(seeds)
    return r


def add_igraph():
    import igraph

    graph = igraph.Graph(n=N, edges=EDGES, directed=False)
    systems["igraph prpack"] = lambda seeds: timed(lambda: graph.personalized_pagerank(
        directed=False, damping=ALPHA, reset_vertices=seeds.tolist(), implementation="prpack"))


def adjacency():
    import scipy.sparse

    rows, columns = np.concatenate([EDGES, EDGES[:, ::-1]]).T
    return scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(N, N))


def add_scipy():
    matrix = adjacency()
    degrees = np.asarray(matrix.sum(1)).ravel()
    pull = matrix.multiply(1 / np.maximum(degrees, 1)).tocsr()  # Pᵀ of an undirected graph
    assert (degrees == 0).sum() == 0 or abs(pull.sum() - (degrees > 0).sum()) < 1e-6

    def power(seeds, matrix, dtype, tolerance):
        r = restart(seeds, dtype)
        p = r
        for _ in range(1000):
            following = dtype(ALPHA) * (matrix @ p) + dtype(1 - ALPHA) * r
            step = np.abs(following - p).sum()
            p = following
            if step < tolerance:
                break
        return p

    narrow = pull.astype(np.float32)
    systems["scipy f64 1e-10"] = lambda seeds: timed(lambda: power(seeds, pull, np.float64, 1e-10))
    systems["scipy f32 1e-6"] = lambda seeds: timed(lambda: power(seeds, narrow, np.float32, 1e-6))


def add_scikit_network():
    from sknetwork.ranking import PageRank

    matrix = adjacency()
    for solver in ("piteration", "push"):
        rank = PageRank(damping_factor=ALPHA, solver=solver, n_iter=100, tol=1e-10)
        systems[f"scikit-network {solver}"] = lambda seeds, rank=rank: timed(
            lambda: rank.fit_predict(matrix, weights={int(seed): 1.0 for seed in seeds}))


for name, add in (("igraph", add_igraph), ("scipy", add_scipy), ("scikit-network", add_scikit_network)):
    if name in arguments.skip.split(","):
        continue
    try:
        add()
    except ImportError as error:
        print(f"SKIPPED {name}: {error}", file=sys.stderr)

measured = {name: {"seconds": [], "l1_error": [], "top_100": []} for name in systems}
notes = {}
names = list(systems)
for turn in range(arguments.rounds + 1):
    seeds = rng.choice(np.unique(EDGES), 3, replace=False)
    _, exact, _ = rust.run(f"solve f64 auto {ALPHA} 1e-14", seeds)
    best = set(np.argsort(-exact, kind="stable")[:100].tolist())
    for at in range(len(names)):
        name = names[(at + turn) % len(names)]
        seconds, scores, notes[name] = systems[name](seeds)
        if turn:  # the first round warms up
            row = measured[name]
            row["seconds"].append(seconds)
            row["l1_error"].append(float(np.abs(scores - exact).sum()))
            row["top_100"].append(len(best & set(np.argsort(-scores, kind="stable")[:100].tolist())))


def batch_gain(program, kind, tolerance):
    """Eight queries one after the other and as a batch, in turn: medians by query, and their ratio."""
    alone, batch = [], []
    for turn in range(arguments.rounds + 1):
        eight = program.eight(rng.choice(program.nodes, 3, replace=False))
        one = [program.ask(f"solve {kind} auto {ALPHA} {tolerance} {seeds}") for seeds in eight]
        all_eight = program.ask(f"batch {kind} {ALPHA} {tolerance} {';'.join(eight)}")
        if turn:
            alone.append(sum(answer["seconds"] for answer in one) / 8)
            batch.append(all_eight["seconds"] / 8)
    ratios = [one / many for one, many in zip(alone, batch)]
    return {"ms_alone": round(statistics.median(alone) * 1e3, 3),
            "ms_in_batch": round(statistics.median(batch) * 1e3, 3),
            "gain": round(statistics.median(ratios), 2),
            "vectors_mb": program.nodes * 8 * (8 if kind == "f64" else 4) / 1e6}


# A graph of a tenth beside it, whose eight vectors are in the second-level cache of most cores.
small = Rust(N // 10, edges(N // 10, arguments.entries // 10))
batches = {f"{kind} {program.nodes} nodes": batch_gain(program, kind, tolerance)
           for program in (small, rust) for kind, tolerance in (("f64", "1e-10"), ("f32", "1e-6"))}

report = {"nodes": N, "entries": rust.facts["entries"], "alpha": ALPHA, "threads": arguments.threads,
          "order": arguments.order, "rounds": arguments.rounds, "load": os.getloadavg()[0],
          "memory": rust.ask("stream"), "facts": rust.facts, "batches": batches,
          "systems": {}}
baseline = measured.get("igraph prpack", {}).get("seconds")
for name, row in measured.items():
    summary = {"ms": round(statistics.median(row["seconds"]) * 1e3, 3),
               "ms_min": round(min(row["seconds"]) * 1e3, 3),
               "l1_error": float(f"{statistics.median(row['l1_error']):.2g}"),
               "top_100_least": min(row["top_100"]), **notes[name]}
    if "iterations" in summary:
        entries = summary["iterations"] * rust.facts["entries"]
        summary["ns_per_entry_and_step"] = round(summary["ms"] * 1e6 / entries, 3)
    if baseline and not name.startswith("igraph"):
        ratios = [theirs / ours for theirs, ours in zip(baseline, row["seconds"])]
        summary["igraph_over_this"] = round(statistics.median(ratios), 2)
    report["systems"][name] = summary
print(json.dumps(report, indent=1))
