"""bm25s on the tokens that the bench `bm25` wrote: the same scores, and how long they take.

    pip install bm25s==0.3.16 numpy
    CORNU_DATA=DIR CORNU_BENCH_TOKENS=FILE cargo bench -p cornu-sparse --bench bm25
    python compare_bm25s.py FILE

bm25s takes the number of tokens as a document's length, the index the number of words; so the
scores are compared with the lengths of the bench put in bm25s's place.
"""

import json
import statistics
import sys
import time

import bm25s
import bm25s.scoring
import numpy as np

with open(sys.argv[1], encoding="utf-8") as file:
    data = json.load(file)
docs, lengths, queries, best = (data[k] for k in ("docs", "lengths", "queries", "best"))

start = time.perf_counter()
plain = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
plain.index(docs, show_progress=False)
print(f"bm25s {bm25s.__version__}: {len(docs)} texts, indexed in {time.perf_counter() - start:.3f} s")


def measure(index):
    times = []
    for query in queries:
        known = [token for token in query if token in index.vocab_dict]
        runs = []
        for _ in range(5):
            start = time.perf_counter()
            index.retrieve([known], k=10, show_progress=False)
            runs.append(time.perf_counter() - start)
        times.append(min(runs))
    times.sort()
    return statistics.median(times), times[len(times) * 95 // 100]


median, p95 = measure(plain)
print(f"  top 10: median {1e6 * median:.0f} us, p95 {1e6 * p95:.0f} us (scores precomputed, f32)")

# Scores, from the matrix of counts with the bench's lengths.
average = sum(lengths) / len(lengths)
holders = {}
for number, tokens in enumerate(docs):
    for token in tokens:
        counts = holders.setdefault(token, {})
        counts[number] = counts.get(number, 0) + 1
worst = 0.0
for query, expected in zip(queries, best):
    scores = np.zeros(len(docs))
    for token in query:
        counts = holders.get(token, {})
        if not counts:
            continue
        idf = bm25s.scoring._score_idf_lucene(len(counts), len(docs))
        rows = np.fromiter(counts.keys(), dtype=int)
        tf = np.fromiter(counts.values(), dtype=float)
        l_d = np.array(lengths)[rows]
        scores[rows] += idf * bm25s.scoring._score_tfc_lucene(tf, l_d, average, 1.2, 0.75)
    top = sorted(range(len(docs)), key=lambda row: (-scores[row], row))[: len(expected)]
    for row, (_, score) in zip(top, expected):
        worst = max(worst, abs(scores[row] - score))
print(f"  largest difference of a score in the best 10 by bm25s's formulas: {worst:.2e}")
