"""Scores of bm25s and rank_bm25 for a small corpus, as the tests' oracle.

    pip install bm25s==0.3.16 rank_bm25==0.2.2 numpy
    python make_oracles.py > oracles.json

The tokens are handed to every library as they are. The corpus is drawn so that some terms stand in
more than half of the documents, some in one, and some several times in one document.
"""

import json
import random
from importlib.metadata import version

import bm25s
import rank_bm25

K1, B = 1.5, 0.75
rng = random.Random(14)
vocabulary = [f"t{i}" for i in range(40)]
weights = [1 / (i + 1) for i in range(40)]
docs = [rng.choices(vocabulary, weights, k=rng.randint(1, 30)) for _ in range(60)]
queries = [rng.choices(vocabulary, k=rng.randint(1, 6)) for _ in range(20)]
queries += [["t0"], ["t0", "t0", "t1"], ["absent"], ["absent", "t3"]]


def of_bm25s(method, delta):
    index = bm25s.BM25(k1=K1, b=B, delta=delta, method=method, dtype="float64")
    index.index(docs, show_progress=False)
    known = set(index.vocab_dict)
    scores = []
    for query in queries:
        # get_scores takes no query without a known token.
        query = [token for token in query if token in known]
        scores.append(index.get_scores(query).tolist() if query else [0.0] * len(docs))
    return {"k1": K1, "b": B, "delta": delta, "scores": scores}


def of_rank_bm25(kind, **settings):
    index = kind(docs, k1=K1, b=B, **settings)
    scores = [index.get_scores(query).tolist() for query in queries]
    return {"k1": K1, "b": B, "delta": settings.get("delta", 0.0), "scores": scores}


print(
    json.dumps(
        {
            "versions": {name: version(name) for name in ("bm25s", "rank_bm25", "numpy")},
            "docs": docs,
            "queries": queries,
            "bm25s": {
                "lucene": of_bm25s("lucene", 0.0),
                "robertson": of_bm25s("robertson", 0.0),
                "atire": of_bm25s("atire", 0.0),
                "bm25l": of_bm25s("bm25l", 0.5),
                "bm25+": of_bm25s("bm25+", 1.0),
            },
            "rank_bm25": {
                "okapi": of_rank_bm25(rank_bm25.BM25Okapi),
                "bm25l": of_rank_bm25(rank_bm25.BM25L, delta=0.5),
                "bm25+": of_rank_bm25(rank_bm25.BM25Plus, delta=1.0),
            },
        }
    )
)
