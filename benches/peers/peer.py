"""The Python peers, one line of JSON in and one out: started by the programs `bm25` and `knn`.

    pip install bm25s==0.3.16 faiss-cpu==1.15.1 sqlite-vec==0.1.9 apsw numpy

apsw, because the sqlite3 module of many Pythons loads no extensions.
"""

import json
import os
import statistics
import sys
import time

import numpy as np


def timed(work):
    start = time.perf_counter()
    value = work()
    return value, time.perf_counter() - start


class Bm25:
    """bm25s: scores of every pair of term and text computed beforehand, in f32."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as data:
            self.data = json.load(data)

    def build(self, _):
        import bm25s

        self.index = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
        _, seconds = timed(lambda: self.index.index(self.data["docs"], show_progress=False))
        known = self.index.vocab_dict
        self.queries = [[t for t in query if t in known] for query in self.data["queries"]]
        return {"seconds": seconds}

    def retrieve(self, query):
        return self.index.retrieve([query], k=10, show_progress=False)

    def times(self, _):
        asked = [query for query in self.queries if query]
        return {"median_s": statistics.median(timed(lambda: self.retrieve(q))[1] for q in asked)}

    def results(self, _):
        best = []
        for query in self.queries:
            rows, scores = self.retrieve(query) if query else ([[]], [[]])
            pairs = [(int(r), float(s)) for r, s in zip(rows[0], scores[0]) if s > 0]
            best.append(pairs)
        return {"best": best}


class Knn:
    """faiss's flat index with a bitmap as selector; vec0 with the visible rows in the statement."""

    def __init__(self, file, dimension):
        self.vectors = np.fromfile(file, dtype=np.float32).reshape(-1, int(dimension))

    def build(self, request):
        return {"seconds": timed({"faiss": self.faiss, "sqlite-vec": self.vec0}[request["peer"]])[1]}

    def faiss(self):
        import faiss

        faiss.omp_set_num_threads(os.cpu_count())
        self.flat = faiss.IndexFlatIP(self.vectors.shape[1])
        self.flat.add(self.vectors)

    def vec0(self):
        import apsw
        import sqlite_vec

        db = apsw.Connection(":memory:")
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        dimension = self.vectors.shape[1]
        db.execute(f"CREATE VIRTUAL TABLE v USING vec0(embedding float[{dimension}])")
        db.execute("CREATE TABLE visible (id INTEGER PRIMARY KEY)")
        rows = ((row, vector.tobytes()) for row, vector in enumerate(self.vectors))
        with db:
            db.executemany("INSERT INTO v (rowid, embedding) VALUES (?, ?)", rows)
        self.db = db

    def view(self, request):
        import faiss

        rows = np.arange(len(self.vectors))
        seen = (rows // request["chunks"]) % request["share"] == 0
        self.whole = bool(seen.all())
        self.bitmap = np.packbits(seen, bitorder="little")
        selector = faiss.IDSelectorBitmap(self.bitmap)
        self.parameters = None if self.whole else faiss.SearchParameters(sel=selector)
        with self.db:
            self.db.execute("DELETE FROM visible")
            self.db.executemany("INSERT INTO visible VALUES (?)", ((int(r),) for r in rows[seen]))
        return {}

    def search(self, request):
        query = np.array(request["query"], dtype=np.float32)
        k = request["k"]
        if request["peer"] == "faiss":
            one = query.reshape(1, -1)
            (scores, _), seconds = timed(lambda: self.flat.search(one, k, params=self.parameters))
            return {"seconds": seconds, "similarities": [float(s) for s in scores[0]]}
        sql = "SELECT distance FROM v WHERE embedding MATCH ? AND k = ?"
        if not self.whole:
            sql += " AND rowid IN (SELECT id FROM visible)"
        sql += " ORDER BY distance"
        rows, seconds = timed(lambda: self.db.execute(sql, (query.tobytes(), k)).fetchall())
        return {"seconds": seconds, "similarities": [1 - d * d / 2 for (d,) in rows]}


def main():
    kind, *arguments = sys.argv[1:]
    peer = {"bm25": Bm25, "knn": Knn}[kind](*arguments)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(peer, request["run"])(request)), flush=True)


if __name__ == "__main__":
    main()
