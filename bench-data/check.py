#!/usr/bin/env python3
"""Check that the evaluation data is what its README says. Standard library only.

Usage: python3 bench-data/check.py [--counts]

Exits with 1 and one line per finding when something is wrong.
"""

import collections
import decimal
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent
LANGUAGES = {"zh", "en", "mixed"}
ANSWERABLE = {"paraphrase", "identifier", "mixed", "table", "multi_hop"}
TYPES = ANSWERABLE | {"unanswerable"}
KEYS = {"id", "type", "split", "lang", "question", "answer", "evidence", "near_miss"}
DEV_SHARE = (0.35, 0.45)
TABLE_KEYS = {"id", "kind", "operation", "split", "lang", "question", "answer", "value", "subjects", "cells", "evidence"}
TABLE_KINDS = {
    "cell": {"lookup"},
    "row": {"row"},
    "aggregate": {"max", "min", "sum", "average", "count", "difference", "filter"},
    "column": {"list", "max", "min", "filter"},
}
# A table with so many columns is wide; so many questions on columns of so many wide tables are wanted.
WIDE, COLUMN_QUESTIONS, WIDE_TABLES = 8, 20, 4
TOTALS = {"Total", "合计"}
SEGMENT_TYPES = {"run", "spread", "unanswerable"}
# The last number of a type in the first batch; a later batch leaves the splits of an earlier one alone.
SEGMENT_BATCH = {"run": 29, "spread": 54, "unanswerable": 16}
# The default size of a chunk, and what a character takes of it at least, over some hundred characters
# of these documents: e5's own tokenizer needs more in each of them. CJK and its marks, all else.
CHUNK_TOKENS = 256
TOKENS_PER_CHARACTER = (0.8, 0.235)

problems: list[str] = []


def problem(where: str, text: str) -> None:
    problems.append(f"{where}: {text}")


def read_text(path: pathlib.Path) -> str:
    raw = path.read_bytes()
    if raw.startswith(b"\xef\xbb\xbf"):
        problem(path.name, "starts with a byte order mark")
    if b"\r" in raw:
        problem(path.name, "holds carriage returns, lines must end with LF alone")
    if not raw.endswith(b"\n"):
        problem(path.name, "does not end with a line feed")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem(path.name, f"is not UTF-8: {error}")
        return ""


def read_jsonl(name: str) -> list[dict]:
    rows = []
    for number, line in enumerate(read_text(ROOT / name).splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            problem(f"{name}:{number}", f"is not JSON: {error}")
    return rows


def headings(text: str) -> list[tuple[int, str]]:
    """ATX headings outside front matter, fences and HTML comments."""
    found, fence = [], None
    lines = text.split("\n")
    start = lines.index("---", 1) + 1 if lines[0] == "---" else 0
    for line in lines[start:]:
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark:
            if fence is None:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = None
            continue
        heading = re.match(r"(#{1,6})\s+(\S.*)$", line)
        if heading and fence is None:
            found.append((len(heading[1]), heading[2]))
    if fence is not None:
        found.append((0, "an open fence"))
    return found


def check_tables(name: str, text: str) -> None:
    """Rows of one table must have as many cells as its header."""
    width = 0
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.count("|") if line.startswith("|") else 0
        if cells and width and cells != width:
            problem(f"{name}:{number}", f"a table row with {cells - 1} cells, its header has {width - 1}")
        width = (width or cells) if cells else 0


def check_documents(manifest: str, folder: str) -> dict[str, str]:
    """The documents that a manifest lists, checked each for itself."""
    with open(ROOT / manifest, "rb") as file:
        listed = tomllib.load(file)["document"]
    documents = {}
    for entry in listed:
        name = entry["file"]
        path = ROOT / folder / name
        if not path.is_file():
            problem(manifest, f"{name} is listed but does not exist")
            continue
        documents[name] = read_text(path)
        if entry["language"] not in LANGUAGES:
            problem(manifest, f"{name} has the unknown language {entry['language']}")
        if not entry["acl"] or not all(isinstance(grant, str) and grant for grant in entry["acl"]):
            problem(manifest, f"{name} needs at least one grant")
        found = headings(documents[name])
        levels = [level for level, _ in found]
        if levels[:1] != [1] or levels.count(1) != 1 or 0 in levels:
            problem(name, f"must open with its only level-1 heading and close every fence, levels are {levels}")
        for (above, _), (level, title) in zip(found, found[1:]):
            if level > above + 1:
                problem(name, f"heading {title!r} jumps from level {above} to {level}")
        if found and found[0][1] != entry["title"] and entry["title"] not in documents[name]:
            problem(manifest, f"the title of {name} is not its heading")
        check_tables(name, documents[name])
        for label in set(re.findall(r"(?<!^)\[\^(\w+)\]", documents[name], re.M)):
            if f"\n[^{label}]: " not in documents[name]:
                problem(name, f"footnote {label} has no definition")
    for path in sorted((ROOT / folder).iterdir()):
        if path.name not in documents and path != ROOT / manifest:
            problem(manifest, f"{folder}/{path.name} is not listed")
    return documents


def check_corpus() -> dict[str, str]:
    documents = check_documents("corpus.toml", "corpus")
    with open(ROOT / "corpus.toml", "rb") as file:
        listed = tomllib.load(file)["document"]
    if len(documents) < 12:
        problem("corpus.toml", f"{len(documents)} documents, at least 12 are wanted")
    if sum("public" not in entry["acl"] for entry in listed) < 3:
        problem("corpus.toml", "at least 3 documents must not be public")
    return documents


def check_question(where: str, row: dict, documents: dict[str, str], types: set[str] = TYPES) -> None:
    if set(row) != KEYS:
        problem(where, f"keys are {sorted(row)}, wanted {sorted(KEYS)}")
        return
    if row["type"] not in types or row["split"] not in {"dev", "test"} or row["lang"] not in LANGUAGES:
        problem(where, "unknown type, split or language")
    if row["question"] != row["question"].strip() or len(row["question"]) < 4:
        problem(where, "the question is empty or padded with space")
    if row["type"] == "unanswerable":
        if row["answer"] is not None or row["evidence"]:
            problem(where, "an unanswerable question has no answer and no evidence")
        return
    if row["near_miss"]:
        problem(where, "only unanswerable questions are near misses")
    if not row["answer"]:
        problem(where, "the answer is missing")
    pieces = len(row["evidence"])
    if pieces < 2 if row["type"] in {"multi_hop", "run", "spread"} else pieces != 1:
        problem(where, f"{row['type']} with {pieces} pieces of evidence")
    for piece in row["evidence"]:
        if not piece:
            problem(where, "a piece of evidence without alternatives")
        for option in piece:
            check_phrase(where, option["doc"], option["phrase"], documents)


def check_phrase(where: str, name: str, phrase: str, documents: dict[str, str]) -> None:
    if name not in documents:
        problem(where, f"{name} is not in corpus.toml")
        return
    if not 6 <= len(phrase) <= 80 or "\n" in phrase:
        problem(where, f"phrase of {len(phrase)} characters, wanted 6 to 80 on one line: {phrase!r}")
    occurrences = documents[name].count(phrase)
    if occurrences != 1:
        problem(where, f"phrase occurs {occurrences} times in {name}, wanted once: {phrase!r}")


def check_sets(documents: dict[str, str]) -> tuple[list[dict], list[dict]]:
    small, large = read_jsonl("questions-20.jsonl"), read_jsonl("questions-ext.jsonl")
    ids, texts = collections.Counter(), collections.defaultdict(list)
    for name, rows in (("questions-20.jsonl", small), ("questions-ext.jsonl", large)):
        for row in rows:
            check_question(f"{name} {row.get('id')}", row, documents)
            ids[row.get("id")] += 1
            texts[re.sub(r"\W+", "", row.get("question", "")).lower()].append(row.get("id"))
    for identity, count in ids.items():
        if count > 1:
            problem("questions", f"the id {identity} is used {count} times")
    for same in texts.values():
        if len(same) > 1:
            problem("questions", f"the same question under {', '.join(same)}")

    answerable = [row for row in small if row["type"] != "unanswerable"]
    if (len(small), len(answerable)) != (20, 17):
        problem("questions-20.jsonl", f"{len(small)} questions, {len(answerable)} answerable; wanted 20 and 17")
    for row in answerable:
        if any(option["doc"] != "04-autograd.md" for piece in row["evidence"] for option in piece):
            problem(row["id"], "must be answered by 04-autograd.md alone")

    by_type = collections.Counter(row["type"] for row in large)
    if len(large) < 320:
        problem("questions-ext.jsonl", f"{len(large)} questions, at least 320 are wanted")
    for kind in TYPES:
        wanted = 80 if kind == "unanswerable" else 40
        if by_type[kind] < wanted:
            problem("questions-ext.jsonl", f"{by_type[kind]} {kind}, at least {wanted} are wanted")
        check_share("questions-ext.jsonl", kind, [row for row in large if row["type"] == kind])
    unanswerable = [row for row in large if row["type"] == "unanswerable"]
    near = [row for row in unanswerable if row["near_miss"]]
    if 2 * len(near) != len(unanswerable):
        problem("questions-ext.jsonl", f"{len(near)} of {len(unanswerable)} unanswerable are near misses, wanted half")
    check_share("questions-ext.jsonl", "near_miss", near)
    covered = {option["doc"] for row in large for piece in row["evidence"] for option in piece}
    for name in sorted(set(documents) - covered):
        problem("questions-ext.jsonl", f"no question is answered by {name}")
    return small, large


def check_share(name: str, kind: str, rows: list[dict]) -> None:
    share = sum(row["split"] == "dev" for row in rows) / max(len(rows), 1)
    if not DEV_SHARE[0] <= share <= DEV_SHARE[1]:
        problem(name, f"{share:.0%} of {kind} are dev, wanted about 40%")


def check_split(name: str, rows: list[dict], drawn: str) -> None:
    """Dev are those of the rows whose ids have the least hash."""
    dev = round(len(rows) * 0.4)
    for at, row in enumerate(sorted(rows, key=lambda row: hash_of(row["id"]))):
        if (row["split"] == "dev") != (at < dev):
            problem(f"{name} {row['id']}", f"dev are the 40% of {drawn} with the least SHA-256 of the id")


def tables_of(text: str) -> list[dict[int, list[str]]]:
    """The tables of a document, each as the cells of its lines by their numbers, delimiters left out."""
    found: list[dict[int, list[str]]] = [{}]
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            found.append({})
        elif set(line) - set("|-: "):
            found[-1][number] = [cell.strip() for cell in line.strip("|").split("|")]
    return [table for table in found if table]


def number_of(text: str) -> decimal.Decimal | None:
    """A cell's number, in units of one; nothing for words, blanks and ranges."""
    found = re.fullmatch(r"[€£$]?([+-]?\d[\d,]*(?:\.\d+)?)([万亿]?)\D*", text.replace("\u2212", "-"))
    if found is None:
        return None
    return decimal.Decimal(found[1].replace(",", "")) * {"": 1, "万": 10**4, "亿": 10**8}[found[2]]


def check_table_answer(where: str, row: dict, table: dict[int, list[str]]) -> None:
    """The answer has to follow from the cells, and these from the whole column."""
    header, *data = table.items()
    data = [(line, cells) for line, cells in data if cells[0] not in TOTALS]
    lines = [cell["line"] for cell in row["cells"]]
    columns = {cell["column"] for cell in row["cells"]}
    labels = [table[line][0] for line in lines]
    operation = row["operation"]
    if operation == "row":
        wanted = "; ".join(f"{name}: {cell}" for name, cell in zip(header[1], table[lines[0]]))
        if set(lines) != {lines[0]} or columns != set(range(1, len(header[1]) + 1)) or row["answer"] != wanted:
            problem(where, f"the row is {wanted!r}")
        return
    if len(columns) != 1:
        problem(where, "cells of several columns")
        return
    at = columns.pop() - 1
    # A column's name may give the unit: 决算（万元）.
    unit = next((scale for mark, scale in (("（万", 10**4), ("（亿", 10**8)) if mark in header[1][at]), 1)
    numbers = {line: number_of(cells[at]) for line, cells in data}
    column = {line: number and number * unit for line, number in numbers.items()}
    plain = {line: number for line, number in column.items() if number is not None}
    value = None if row["value"] is None else number_of(row["value"].split("/")[0])
    cited = [plain[line] for line in lines if line in plain]
    if operation == "list":
        wanted = [(cells[0], cells[at]) for _, cells in data]
        good = lines == [line for line, _ in data] and row["subjects"] == labels
        good &= row["answer"] == "; ".join(f"{label}: {cell}" for label, cell in wanted)
    elif operation == "lookup":
        # A unit may be of the column's name, and stand before or behind the number.
        good = len(lines) == 1 and row["cells"][0]["text"].strip("€£") in row["value"]
    elif operation in {"max", "min"}:
        best = (max if operation == "max" else min)(plain.values())
        good = [line for line, number in plain.items() if number == best] == lines and value == best
    elif operation == "difference":
        good = len(cited) == 2 and abs(cited[0] - cited[1]) == value
    elif operation == "sum":
        good = sorted(lines) == sorted(plain) and sum(cited) == value
    elif operation == "average":
        good = sorted(lines) == sorted(plain) and sum(cited) / len(cited) == value
    else:
        # The bound is the question's only number that stands behind a word of comparison.
        bound = re.search(r"(above|fewer than|高于|低于|超过)\s*(\d+(?:\.\d+)?)", row["question"])
        above = bound is not None and bound[1] in {"above", "高于", "超过"}
        limit = decimal.Decimal(bound[2]) if bound else decimal.Decimal(0)
        kept = [line for line, number in plain.items() if (number > limit if above else number < limit)]
        good = bound is not None and kept == lines
        good &= value == len(lines) if operation == "count" else row["subjects"] == labels
    if not good:
        problem(where, f"{row['answer']!r} does not follow from the cells {row['cells']}")
    if operation in {"lookup", "max", "min", "difference"} and row["subjects"] != labels:
        problem(where, f"the subjects are {labels}")


def check_table_set() -> list[dict]:
    with open(ROOT / "tables" / "tables.toml", "rb") as file:
        listed = tomllib.load(file)["document"]
    documents = {entry["file"]: read_text(ROOT / "tables" / entry["file"]) for entry in listed}
    for name in sorted({path.name for path in (ROOT / "tables").iterdir()} - set(documents) - {"tables.toml"}):
        problem("tables.toml", f"tables/{name} is not listed")
    for name, text in documents.items():
        check_tables(name, text)
    rows = read_jsonl("questions-tables.jsonl")
    ids, covered, wide = collections.Counter(row["id"] for row in rows), set(), set()
    for row in rows:
        where = f"questions-tables.jsonl {row['id']}"
        if ids[row["id"]] > 1 or set(row) != TABLE_KEYS:
            problem(where, f"the id is used {ids[row['id']]} times, keys are {sorted(row)}")
            continue
        if row["operation"] not in TABLE_KINDS.get(row["kind"], set()) or row["lang"] not in LANGUAGES:
            problem(where, "unknown kind, operation or language")
        for piece in row["evidence"]:
            for option in piece:
                check_phrase(where, option["doc"], option["phrase"], documents)
        places = set()
        for cell in row["cells"]:
            tables = tables_of(documents[cell["doc"]])
            found = [at for at, table in enumerate(tables) if cell["line"] in table]
            places.update((cell["doc"], at) for at in found)
            if not found or tables[found[0]][cell["line"]][cell["column"] - 1] != cell["text"]:
                problem(where, f"{cell} does not stand there")
        if len(places) != 1:
            problem(where, f"the cells are of {len(places)} tables")
            continue
        [(name, at)] = places
        covered |= places
        if row["kind"] == "column":
            wide |= places
            header = next(iter(tables_of(documents[name])[at].values()))
            if len(header) < WIDE:
                problem(where, f"a table of {len(header)} columns is not wide")
        check_table_answer(where, row, tables_of(documents[name])[at])
    if len(rows) < 80 or len(covered) < 15:
        problem("questions-tables.jsonl", f"{len(rows)} questions on {len(covered)} tables, wanted 80 on 15")
    of_columns = [row for row in rows if row["kind"] == "column"]
    check_split("questions-tables.jsonl", of_columns, "the questions on columns")
    columns = len(of_columns)
    if columns < COLUMN_QUESTIONS or len(wide) < WIDE_TABLES:
        problem("questions-tables.jsonl", f"{columns} questions on columns of {len(wide)} wide tables")
    for kind in TABLE_KINDS:
        check_share("questions-tables.jsonl", kind, [row for row in rows if row["kind"] == kind])
    return rows


def check_segment_set(corpus: dict[str, str]) -> list[dict]:
    """Questions whose evidence no chunk of the default size can hold."""
    long = check_documents("long/long.toml", "long")
    if twice := sorted(set(corpus) & set(long)):
        problem("long.toml", f"{twice} are of the corpus, too")
    documents, name = corpus | long, "questions-segments.jsonl"
    rows = read_jsonl(name)
    ids, questions = (collections.Counter(row[key] for row in rows) for key in ("id", "question"))
    for row in rows:
        where = f"{name} {row['id']}"
        if ids[row["id"]] > 1 or questions[row["question"]] > 1:
            problem(where, "the id or the question is used twice")
        check_question(where, row, documents, SEGMENT_TYPES)
        options = [option for piece in row["evidence"] for option in piece]
        docs = {option["doc"] for option in options}
        if row["type"] == "unanswerable":
            if not row["near_miss"]:
                problem(where, "must be a near miss")
            continue
        if any(len(piece) != 1 for piece in row["evidence"]) or len(docs) != 1 or not docs <= set(documents):
            problem(where, "each piece is one phrase, all of one document")
            continue
        text = documents[docs.pop()]
        starts = [text.find(option["phrase"]) for option in options]
        if -1 in starts:
            continue  # named above
        between = text[min(starts) : max(at + len(option["phrase"]) for at, option in zip(starts, options))]
        cjk = sum(character > "\u2e80" for character in between)
        tokens = cjk * TOKENS_PER_CHARACTER[0] + (len(between) - cjk) * TOKENS_PER_CHARACTER[1]
        if tokens <= CHUNK_TOKENS:
            problem(where, f"a chunk may hold all its evidence: about {tokens:.0f} tokens")
        if ("\n## " in between) != (row["type"] == "spread"):
            problem(where, "`run` stays within one section of level 2, `spread` does not")
    for kind in SEGMENT_TYPES:
        for later in (False, True):
            own = [row for row in rows if row["type"] == kind]
            own = [row for row in own if (int(row["id"][-3:]) > SEGMENT_BATCH[kind]) == later]
            check_split(name, own, "a type and batch")
    answerable = [row for row in rows if row["evidence"]]
    languages = {row["lang"] for row in answerable}
    tested = sum(row["split"] == "test" for row in answerable)
    if tested < 60 or languages != {"zh", "en"}:
        problem(name, f"{tested} test questions with evidence in {sorted(languages)}, wanted 60 in zh and en")
    return rows


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def terms(text: str) -> set[str]:
    """Latin words of two or more letters, and pairs of adjacent Chinese characters."""
    words = {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z0-9-]+", text)}
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return words | {run[i : i + 2] for run in runs for i in range(len(run) - 1)}


def check_synonyms() -> list[dict]:
    rows = read_jsonl("synonyms.jsonl")
    languages = collections.Counter(row["lang"] for row in rows)
    if len(rows) < 30 or languages["zh"] < 20 or languages["en"] < 6:
        problem("synonyms.jsonl", f"{len(rows)} groups {dict(languages)}, wanted 30 with 20 zh and 6 en")
    seen = collections.Counter()
    for row in rows:
        where = f"synonyms.jsonl {row['id']}"
        seen[row["id"]] += 1
        passages = [row["gold"], *row["distractors"]]
        seen.update(passages)
        if len(row["queries"]) < 2 or len(set(row["queries"])) != len(row["queries"]):
            problem(where, "needs at least two different queries")
        if len(row["distractors"]) < 3:
            problem(where, f"{len(row['distractors'])} distractors, at least 3 are wanted")
        lure = terms(row["queries"][1]) - terms(row["gold"])
        if not any(lure & terms(text) for text in row["distractors"]):
            problem(where, "no distractor shares a term with the second query that the gold passage lacks")
    for text, count in seen.items():
        if count > 1:
            problem("synonyms.jsonl", f"{text!r} occurs {count} times")
    return rows


def check_external() -> None:
    with open(ROOT / "external.toml", "rb") as file:
        external = tomllib.load(file)
    for entry in external["set"]:
        for key in ("id", "title", "source", "licence", "files"):
            if not entry.get(key):
                problem("external.toml", f"{entry.get('id')} lacks {key}")
        for file_entry in entry.get("files", []):
            if not re.fullmatch(r"[0-9a-f]{64}", file_entry["sha256"]) or file_entry["bytes"] <= 0:
                problem("external.toml", f"{entry['id']}/{file_entry['name']}: bad checksum or size")


def check_made() -> None:
    """What a script writes is what it writes; the phrasings of the chains are 20 and 10 a relation, all different."""
    for folder in ("audit", "chains"):
        done = subprocess.run([sys.executable, ROOT / folder / "make.py", "--check"], capture_output=True, text=True)
        if done.returncode:
            problem(folder, done.stderr.strip())
    read = lambda name: json.loads((ROOT / "chains" / name).read_text(encoding="utf-8"))
    seen, kept = read("phrasings.json"), read("phrasings-kept.json")
    for relation in seen.keys() | kept.keys():
        one, two = seen.get(relation, []), kept.get(relation, [])
        if (len(one), len(two)) != (20, 10) or len({*one, *two}) != 30:
            problem("chains", f"{relation} has {len(one)} phrasings and {len(two)} kept ones, or one twice")


def print_counts(small: list[dict], large: list[dict], synonyms: list[dict]) -> None:
    for name, rows in (("questions-20", small), ("questions-ext", large)):
        print(f"{name}: {len(rows)}")
        kinds = collections.Counter((row["type"], row["split"]) for row in rows)
        for (kind, split), count in sorted(kinds.items()):
            print(f"  {kind:13} {split:5} {count}")
        print("  languages    ", dict(collections.Counter(row["lang"] for row in rows)))
    docs = collections.Counter()
    for row in large:
        docs.update({option["doc"] for piece in row["evidence"] for option in piece})
    for name, count in sorted(docs.items()):
        print(f"  {name:28} {count}")
    print("synonyms:", dict(collections.Counter(row["lang"] for row in synonyms)))


def main() -> int:
    documents = check_corpus()
    small, large = check_sets(documents)
    synonyms = check_synonyms()
    tables = check_table_set()
    segments = check_segment_set(documents)
    check_external()
    check_made()
    if "--counts" in sys.argv[1:]:
        print_counts(small, large, synonyms)
        kinds = collections.Counter((row["kind"], row["split"]) for row in tables)
        print("questions-tables:", {f"{kind} {split}": count for (kind, split), count in sorted(kinds.items())})
        kinds = collections.Counter((row["type"], row["split"]) for row in segments)
        print("questions-segments:", {f"{kind} {split}": count for (kind, split), count in sorted(kinds.items())})
    for line in problems:
        print(line, file=sys.stderr)
    if problems:
        print(f"{len(problems)} problems", file=sys.stderr)
        return 1
    sizes = " + ".join(str(len(rows)) for rows in (small, large, tables, segments))
    print(f"bench-data is consistent: {len(documents)} documents, {sizes} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
