#!/usr/bin/env python3
"""Turn the public multi-hop sets into the layout we read, or verify a folder that holds them.

The layout is BEIR's: corpus.jsonl (_id, title, text), queries.jsonl (_id, text,
answer, ...) and qrels.tsv (query-id, corpus-id, score, with a header line). A
passage's _id is its position in the upstream corpus file.

Usage:
    convert_external.py QUESTIONS.json CORPUS.json OUT_DIR [--gold KIND] [--drop-unmatched]
        [--openie FILE] [--ids FILE] [--limit N]
    CORNU_DATA=DIR convert_external.py --verify

Standard library only. Nothing is downloaded: external.toml says where the files are.
"""

import argparse
import hashlib
import json
import os
import pathlib
import sys
import tomllib

EXTERNAL = pathlib.Path(__file__).resolve().parent / "external.toml"


class ConversionError(Exception):
    """The upstream files are not what this script was written for."""


def load_corpus(path: pathlib.Path) -> list[tuple[str, str]]:
    """Passages as (title, text), in file order.

    Two shapes exist upstream: a list of {"title", "text"}, and an object that
    maps each title to the list of its sentences, which carry their own spaces.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(data, dict):
        return [(title, text if isinstance(text, str) else "".join(text)) for title, text in data.items()]
    return [(item["title"], item["text"]) for item in data]


class Gold:
    """Finds a question's gold passages; the first of equal passages stands for all."""

    def __init__(self, corpus: list[tuple[str, str]]) -> None:
        self.by_passage: dict[tuple[str, str], int] = {}
        self.by_title: dict[str, int] = {}
        for position, (title, text) in enumerate(corpus):
            self.by_passage.setdefault((title, text), position)
            self.by_title.setdefault(title, position)

    def of(self, item: dict, kind: str) -> list[int]:
        if kind == "auto":
            kind = next((name for name in ("paragraphs", "supporting_facts", "evidences") if name in item), "")
        if kind == "paragraphs":
            keys = [(p["title"], p["paragraph_text"]) for p in item["paragraphs"] if p["is_supporting"]]
            found = [self.by_passage.get(key) for key in keys]
        elif kind in ("supporting_facts", "evidences"):
            # (title, sentence number) pairs, or (subject, relation, object) triples
            keys = [fact[0] for fact in item[kind]]
            found = [self.by_title.get(key) for key in keys]
        else:
            raise ConversionError(f"question {identity(item)} has no paragraphs, supporting_facts or evidences")
        missing = [key for key, position in zip(keys, found) if position is None]
        if missing or not keys:
            raise ConversionError(f"question {identity(item)}: gold passages not in the corpus: {missing}")
        return list(dict.fromkeys(found))


def identity(item: dict) -> str:
    return item["_id"] if "_id" in item else item["id"]


def query_row(item: dict) -> dict:
    row = {"_id": identity(item), "text": item["question"], "answer": item["answer"]}
    for key in ("type", "answer_aliases"):
        if key in item:
            row[key] = item[key]
    return row


def write_jsonl(path: pathlib.Path, rows: list[dict]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")


def convert(args: argparse.Namespace) -> None:
    corpus = load_corpus(args.corpus)
    questions = json.loads(args.questions.read_text(encoding="utf-8"))
    if args.ids:
        wanted = set(args.ids.read_text(encoding="utf-8").split())
        questions = [item for item in questions if identity(item) in wanted]
        if len(questions) != len(wanted):
            raise ConversionError(f"{args.ids} names {len(wanted)} questions, {len(questions)} of them exist")
    questions = questions[: args.limit]

    gold = Gold(corpus)
    kept, qrels, dropped = [], ["query-id\tcorpus-id\tscore\n"], []
    for item in questions:
        try:
            positions = gold.of(item, args.gold)
        except ConversionError as error:
            if not args.drop_unmatched:
                raise
            dropped.append(str(error))
            continue
        kept.append(query_row(item))
        qrels += [f"{identity(item)}\t{position}\t1\n" for position in positions]

    args.out.mkdir(parents=True, exist_ok=True)
    write_jsonl(
        args.out / "corpus.jsonl",
        [{"_id": str(n), "title": title, "text": text} for n, (title, text) in enumerate(corpus)],
    )
    write_jsonl(args.out / "queries.jsonl", kept)
    (args.out / "qrels.tsv").write_text("".join(qrels), encoding="utf-8", newline="\n")
    if args.openie:
        write_jsonl(args.out / "openie.jsonl", openie_rows(args.openie, corpus))
    for line in dropped:
        print(f"dropped: {line}", file=sys.stderr)
    print(f"{args.out}: {len(corpus)} passages, {len(kept)} questions, {len(dropped)} dropped")


def openie_rows(path: pathlib.Path, corpus: list[tuple[str, str]]) -> list[dict]:
    """Entities and triples as published, one row a passage, in the corpus' order."""
    docs = json.loads(path.read_text(encoding="utf-8"))["docs"]
    if [doc["passage"] for doc in docs] != [f"{title}\n{text}" for title, text in corpus]:
        raise ConversionError(f"{path} does not follow the corpus passage by passage")
    keys = ("passage", "extracted_entities", "extracted_triples")
    return [{"_id": str(n)} | {key: doc[key] for key in keys} for n, doc in enumerate(docs)]


def verify() -> int:
    folder = os.environ.get("CORNU_DATA")
    if not folder:
        print("set CORNU_DATA to the folder that holds the sets", file=sys.stderr)
        return 2
    with open(EXTERNAL, "rb") as file:
        external = tomllib.load(file)
    bad = 0
    for entry in external["set"]:
        for wanted in entry["files"]:
            path = pathlib.Path(folder, entry["id"], wanted["name"])
            if not path.is_file():
                verdict = "missing"
            elif path.stat().st_size != wanted["bytes"]:
                verdict = f"{path.stat().st_size} bytes, wanted {wanted['bytes']}"
            elif hashlib.sha256(path.read_bytes()).hexdigest() != wanted["sha256"]:
                verdict = "the checksum differs"
            else:
                continue
            bad += 1
            print(f"{path}: {verdict}", file=sys.stderr)
    if bad == 0:
        print(f"{folder}: every file is as external.toml says")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", action="store_true", help="check the folder that CORNU_DATA names")
    parser.add_argument("questions", nargs="?", type=pathlib.Path)
    parser.add_argument("corpus", nargs="?", type=pathlib.Path)
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument(
        "--gold",
        choices=("auto", "paragraphs", "supporting_facts", "evidences"),
        default="auto",
        help="where the gold passages come from (auto: the first of these that a question has)",
    )
    parser.add_argument("--drop-unmatched", action="store_true", help="skip questions with a gold passage not found")
    parser.add_argument("--openie", type=pathlib.Path, help="published OpenIE output, written as openie.jsonl")
    parser.add_argument("--ids", type=pathlib.Path, help="keep only the questions whose ids this file lists")
    parser.add_argument("--limit", type=int, help="keep only the first N questions")
    args = parser.parse_args()
    if args.verify:
        return verify()
    if args.out is None:
        parser.error("QUESTIONS, CORPUS and OUT_DIR are needed")
    try:
        convert(args)
    except ConversionError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
