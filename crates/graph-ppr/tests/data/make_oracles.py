"""Personalized PageRank of igraph (PRPACK), networkx and the course chapter's formula on random
graphs, as the tests' oracle.

    pip install igraph==1.0.0 networkx==3.6.1 scipy==1.17.1 numpy==2.4.6
    python make_oracles.py > oracles.json

Graphs hold parallel edges, self-loops, isolated nodes, sinks and several components; weights are
either all 1, counts, or real. What a library cannot express is left out and not imitated:

- networkx has no parallel edges in its plain graphs and counts an undirected self-loop once, so
  edges are summed beforehand and undirected graphs are handed to it with both directions as edges.
- The chapter's function knows undirected graphs and self-loops at dangling nodes; networkx and
  igraph return dangling mass to the restart vector.
- igraph is run to its fixed tolerance of 1e-10, networkx and the chapter's to 1e-14.
"""

import json
import random
from importlib.metadata import version

import igraph
import networkx
import numpy as np


def draw(rng, undirected, kind):
    nodes = rng.randint(2, 40)
    count = rng.randint(0, 3 * nodes)
    edges = []
    for _ in range(count):
        # The last nodes get no edge, and few sources make sinks.
        a, b = rng.randrange(max(1, nodes - 2)), rng.randrange(max(1, nodes - 2))
        a = a if undirected else a // 2
        weight = {"one": 1.0, "count": float(rng.randint(1, 9)), "real": rng.uniform(0.01, 3.0)}[kind]
        edges.append([a, b, weight])
    edges += rng.choices(edges, k=len(edges) // 5) if edges else []
    seeds = {}
    for _ in range(rng.randint(1, 4)):
        seeds[rng.randrange(nodes)] = rng.uniform(0.1, 2.0)
    return nodes, edges, sorted(seeds.items())


def reset(nodes, seeds):
    vector = np.zeros(nodes)
    for node, weight in seeds:
        vector[node] = weight
    return vector / vector.sum()


def prpack(nodes, edges, seeds, undirected, alpha):
    graph = igraph.Graph(n=nodes, edges=[(a, b) for a, b, _ in edges], directed=not undirected)
    weights = [w for _, _, w in edges]
    return graph.personalized_pagerank(
        directed=not undirected, damping=alpha, reset=reset(nodes, seeds).tolist(),
        weights=weights or None, implementation="prpack")


def of_networkx(nodes, edges, seeds, undirected, alpha):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    both = edges + ([[b, a, w] for a, b, w in edges] if undirected else [])
    for a, b, w in both:
        sum_so_far = graph.get_edge_data(a, b, {"weight": 0.0})["weight"]
        graph.add_edge(a, b, weight=sum_so_far + w)
    found = networkx.pagerank(graph, alpha=alpha, personalization=dict(seeds), max_iter=10_000,
                              tol=1e-14 / nodes, weight="weight")
    return [found[node] for node in range(nodes)]


def chapter(nodes, edges, seeds, alpha):
    w = np.zeros((nodes, nodes))
    for a, b, weight in edges:
        w[a, b] += weight
        w[b, a] += weight
    sums = w.sum(axis=1, keepdims=True)
    p = np.divide(w, sums, out=np.zeros_like(w), where=sums > 0)
    for node in range(nodes):
        if sums[node, 0] == 0:
            p[node, node] = 1.0
    r = reset(nodes, seeds)
    x = r.copy()
    for _ in range(10_000):
        following = alpha * (x @ p) + (1 - alpha) * r
        done = np.abs(following - x).sum() < 1e-14
        x = following
        if done:
            break
    return x.tolist()


rng = random.Random(14)
cases = []
for at in range(36):
    undirected = at % 2 == 0
    kind = ("one", "count", "real")[at // 2 % 3]
    alpha = (0.5, 0.85, 0.15)[at // 6 % 3]
    nodes, edges, seeds = draw(rng, undirected, kind)
    case = {"nodes": nodes, "undirected": undirected, "alpha": alpha, "edges": edges, "seeds": seeds}
    oracles = {"prpack": prpack(nodes, edges, seeds, undirected, alpha),
               "networkx": of_networkx(nodes, edges, seeds, undirected, alpha)}
    if undirected:
        oracles["chapter"] = chapter(nodes, edges, seeds, alpha)
    case["oracles"] = {name: [float(f"{x:.15g}") for x in scores] for name, scores in oracles.items()}
    cases.append(case)

libraries = ("igraph", "networkx", "scipy", "numpy")
head = {"versions": {name: version(name) for name in libraries}}
print("{" + json.dumps(head)[1:-1] + ', "cases": [')
print(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
print("]}")
