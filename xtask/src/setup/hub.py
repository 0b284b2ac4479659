"""Asks a model hub for files. Standard library only; called by xtask, one JSON job on stdin.

{"do": "probe", "url": U}                 -> {"reachable": true} or {"reachable": false, "why": W}
{"do": "plan", "urls": [U, ...]}          -> {"files": [{"status", "bytes", "etag", "commit"}, ...]}
{"do": "fetch", "files": [{"url", "to", "limit"}, ...]}
                                          -> {"files": [{"status", "bytes", "sha256", "git"}, ...]}

`etag` is what the hub states about a file: a sha256 for large files, git's blob sha1 for small
ones. `git` is that sha1 of what arrived.
"""
import hashlib
import json
import os
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

CONNECT_SECONDS = 5
READ_SECONDS = 60
AGENT = {"User-Agent": "cornu-xtask"}


class Stay(urllib.request.HTTPRedirectHandler):
    """Shows a redirection instead of following it: the hub describes the file there."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


def reason(error):
    return str(getattr(error, "reason", None) or error)


def probe(url):
    request = urllib.request.Request(url, method="HEAD", headers=AGENT)
    try:
        urllib.request.urlopen(request, timeout=CONNECT_SECONDS).close()
    except urllib.error.HTTPError as error:
        # A server that answers 403 or 404 to its own front page is there all the same;
        # one that answers 5xx (a gateway, for example) is not.
        if error.code >= 500 or error.code == 407:
            return {"reachable": False, "why": f"HTTP {error.code}"}
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, the hub is not there
        return {"reachable": False, "why": reason(error)}
    return {"reachable": True}


def describe(url):
    opener = urllib.request.build_opener(Stay)
    for _ in range(5):
        request = urllib.request.Request(url, method="HEAD", headers=AGENT)
        try:
            response = opener.open(request, timeout=CONNECT_SECONDS)
        except urllib.error.HTTPError as error:
            response = error
        status, headers = response.status, response.headers
        response.close()
        etag = (headers.get("X-Linked-Etag") or headers.get("ETag") or "").removeprefix("W/").strip('"')
        size = headers.get("X-Linked-Size") or headers.get("Content-Length")
        found = {
            "status": status,
            "bytes": int(size) if size and size.isdigit() else None,
            "etag": etag or None,
            "commit": headers.get("X-Repo-Commit"),
        }
        if 300 <= status < 400:
            if headers.get("X-Linked-Etag"):
                return {**found, "status": 200}
            url = urllib.parse.urljoin(url, headers.get("Location") or "")
            continue
        return found
    return {"status": 310, "bytes": None, "etag": None, "commit": None}


def fetch(url, to, limit):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    try:
        response = urllib.request.urlopen(
            urllib.request.Request(url, headers=AGENT), timeout=READ_SECONDS
        )
    except urllib.error.HTTPError as error:
        return {"status": error.code, "bytes": 0, "sha256": None, "git": None}
    sha256, total = hashlib.sha256(), 0
    with response, open(to, "xb") as out:
        while piece := response.read(1 << 18):
            total += len(piece)
            if total > limit:
                raise OSError(f"{url} sends more than the {limit} bytes it may")
            sha256.update(piece)
            out.write(piece)
    stated = response.headers.get("Content-Length")
    if stated and stated.isdigit() and int(stated) != total:
        raise OSError(f"{url} broke off after {total} of {stated} bytes")
    git = hashlib.sha1(b"blob %d\0" % total, usedforsecurity=False)
    with open(to, "rb") as written:
        while piece := written.read(1 << 18):
            git.update(piece)
    return {"status": 200, "bytes": total, "sha256": sha256.hexdigest(), "git": git.hexdigest()}


def main():
    job = json.load(sys.stdin)
    if job["do"] == "probe":
        answer = probe(job["url"])
    elif job["do"] == "plan":
        answer = {"files": [describe(url) for url in job["urls"]]}
    else:
        answer = {"files": [fetch(f["url"], f["to"], f["limit"]) for f in job["files"]]}
    # Written whole and renamed, so that a reader never sees half an answer.
    handle, name = tempfile.mkstemp(dir=os.path.dirname(sys.argv[1]))
    with os.fdopen(handle, "w") as out:
        json.dump(answer, out)
    os.replace(name, sys.argv[1])


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # noqa: BLE001 - one line for the reader, not a traceback
        sys.exit(reason(error))
