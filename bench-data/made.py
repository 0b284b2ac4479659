"""What the sets that a seeded make.py writes have in common: the layout of BEIR, and the comparison."""

import json
import sys


def beir(corpus, queries, qrels):
    """The three files by name; qrels are triples of query, passage, and grade."""
    line = lambda value: json.dumps(value, ensure_ascii=False) + "\n"
    head = "query-id\tcorpus-id\tscore\n"
    return {
        "corpus.jsonl": "".join(map(line, corpus)),
        "queries.jsonl": "".join(map(line, queries)),
        "qrels.tsv": head + "".join(f"{query}\t{passage}\t{grade}\n" for query, passage, grade in qrels),
    }


def write(folder, files):
    """Writes the files, or with --check compares them with what is there."""
    check = sys.argv[1:] == ["--check"]
    for name, text in files.items():
        path = folder / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path} is not what make.py writes; run it without --check")
