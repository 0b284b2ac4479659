"""Writes the oracles of this crate: metrics.json and significance.json, beside this file.

    python -m venv venv
    venv/bin/pip install pytrec-eval-terrier==0.5.11 scipy==1.17.1 statsmodels==0.15.0 numpy==2.4.6
    venv/bin/python crates/eval/tests/data/make_oracles.py

The output is the same on every run. The versions used are in the files.
"""

import json
import pathlib
import random
from importlib.metadata import version

import numpy as np
import pytrec_eval
import scipy.stats
from scipy.stats import _resampling
from statsmodels.stats.multitest import multipletests

HERE = pathlib.Path(__file__).parent
MASK64 = (1 << 64) - 1
MASK128 = (1 << 128) - 1
PCG_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
RESAMPLE, SIGNS = 1, 2  # streams of the generator, one per purpose


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    (HERE / name).write_text(text + "\n", encoding="utf-8")


# --- metrics ---------------------------------------------------------------------------------

CUTS = [1, 2, 3, 5, 10, 20]
NAMES = {"recip_rank": "mrr", "ndcg": "ndcg", "map": "map", "Rprec": "r_precision"}
CUT_NAMES = {
    "recall": "recall",
    "success": "hit",
    "P": "precision",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
}


def random_sets(rng, queries, documents, longest, grades):
    """Judgments and ranked lists: unjudged documents, empty lists, lists that are left out."""
    qrels, run = {}, {}
    for index in range(queries):
        pool = [f"d{i}" for i in range(documents)]
        judged = rng.sample(pool, rng.randint(1, documents // 2))
        labels = {document: rng.choice(grades) for document in judged}
        if not any(labels.values()):
            labels[judged[0]] = 1
        qrels[f"q{index:03}"] = labels
        kind = rng.random()
        if kind < 0.07:
            continue  # the run does not know the query
        length = 0 if kind < 0.14 else rng.randint(1, longest)
        run[f"q{index:03}"] = rng.sample(pool, min(length, documents))
    return qrels, run


def trec_values(qrels, run, measures):
    """pytrec_eval on lists: the scores fall strictly with the rank, so nothing ties."""
    scored = {
        query: {document: float(len(ranked) - rank) for rank, document in enumerate(ranked)}
        for query, ranked in run.items()
        if ranked
    }
    return pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(scored)


def metric_case(rng, **sizes):
    qrels, run = random_sets(rng, **sizes)
    cuts = ",".join(map(str, CUTS))
    measures = set(NAMES) | {f"{name}.{cuts}" for name in CUT_NAMES}
    values = {}
    for query, found in trec_values(qrels, run, measures).items():
        row = values.setdefault(query, {})
        for name, value in found.items():
            stem, _, cut = name.rpartition("_")
            if name in NAMES:
                row[NAMES[name]] = value
            elif stem in CUT_NAMES:
                row[f"{CUT_NAMES[stem]}@{cut}"] = value
    # Exponential gain is linear gain over the grades 2^g - 1.
    powered = {q: {d: 2**g - 1 for d, g in labels.items()} for q, labels in qrels.items()}
    for query, found in trec_values(powered, run, {"ndcg", f"ndcg_cut.{cuts}"}).items():
        for name, value in found.items():
            cut = name.removeprefix("ndcg").removeprefix("_cut_")
            values[query]["ndcg_exp" + (f"@{cut}" if cut else "")] = value
    # A reciprocal rank that is cut is the reciprocal rank of a list that is cut.
    for cut in CUTS:
        shorter = {query: ranked[:cut] for query, ranked in run.items()}
        for query, found in trec_values(qrels, shorter, {"recip_rank"}).items():
            values[query][f"mrr@{cut}"] = found["recip_rank"]
    return {"qrels": qrels, "run": run, "values": values}


def metrics():
    rng = random.Random(2)
    return {
        "versions": {"pytrec-eval-terrier": version("pytrec-eval-terrier")},
        "cases": [
            metric_case(rng, queries=15, documents=30, longest=25, grades=[0, 0, 1]),
            metric_case(rng, queries=15, documents=40, longest=40, grades=[0, 0, 1, 2, 3]),
            metric_case(rng, queries=10, documents=8, longest=8, grades=[0, 1, 2, 4, 10]),
        ],
    }


# --- significance ----------------------------------------------------------------------------


def split_mix(state):
    state = (state + 0x9E3779B97F4A7C15) & MASK64
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return state, z ^ (z >> 31)


def generator(seed, stream):
    """numpy's PCG64, started as this crate starts it."""
    mixer, high = split_mix(seed)
    _, low = split_mix(mixer)
    increment = (stream << 1) | 1
    state = ((high << 64) | low) + increment
    state = (state * PCG_MULTIPLIER + increment) & MASK128
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": increment},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return bits


def below(bits, n):
    reject_under = (2**64 - n) % n
    while True:
        product = int(bits.random_raw()) * n
        if product & MASK64 >= reject_under:
            return product >> 64


def bca_case(values, resamples, seed, level=0.95):
    """scipy's BCa over the resamples of this crate's generator."""
    values = np.array(values, dtype=float)
    n = len(values)
    bits = generator(seed, RESAMPLE)
    means = np.array(
        [np.mean(values[[below(bits, n) for _ in range(n)]]) for _ in range(resamples)]
    )
    lower, upper, acceleration = _resampling._bca_interval(
        (values,), lambda x, axis=-1: np.mean(x, axis=axis), axis=-1,
        alpha=(1 - level) / 2, theta_hat_b=means, batch=None, xp=np,
    )
    share = _resampling._percentile_of_score(means, np.mean(values), axis=-1, xp=np)
    return {
        "values": values.tolist(),
        "resamples": resamples,
        "seed": seed,
        "level": level,
        "bias_correction": float(scipy.stats.norm.ppf(share)),
        "acceleration": float(acceleration),
        "lower_probability": float(lower),
        "upper_probability": float(upper),
        "lo": float(np.percentile(means, lower * 100)),
        "hi": float(np.percentile(means, upper * 100)),
    }


def whole_bootstrap_case(values, level=0.95):
    """scipy.stats.bootstrap with its own generator: agreement within Monte Carlo error."""
    result = scipy.stats.bootstrap(
        (np.array(values),), np.mean, confidence_level=level, method="BCa",
        n_resamples=200_000, batch=10_000, rng=np.random.default_rng(7),
    )
    interval = result.confidence_interval
    error = result.standard_error
    return {
        "values": list(values), "level": level,
        "lo": float(interval.low), "hi": float(interval.high), "standard_error": float(error),
    }


def permutation_case(a, b):
    result = scipy.stats.permutation_test(
        (np.array(a), np.array(b)), lambda x, y, axis=-1: np.mean(x - y, axis=axis),
        permutation_type="samples", n_resamples=np.inf, vectorized=True,
    )
    return {"a": list(a), "b": list(b), "mean": float(result.statistic), "p": float(result.pvalue)}


def sampled_permutation_case(a, b, samples, seed):
    """The sign patterns of this crate's generator, summed here."""
    d = np.array(a) - np.array(b)
    d = d[d != 0]
    observed = abs(d.sum()) - 1e-9
    bits = generator(seed, SIGNS)
    as_far = 0
    for _ in range(samples):
        signs = []
        for start in range(0, len(d), 64):
            word = int(bits.random_raw())
            signs += [1 if word >> i & 1 else -1 for i in range(min(64, len(d) - start))]
        as_far += abs((d * signs).sum()) >= observed
    return {
        "a": list(a), "b": list(b), "samples": samples, "seed": seed,
        "p": (int(as_far) + 1) / (samples + 1),
    }


def significance():
    rng = random.Random(14)
    # Eighths are exact in binary, so equal sums are equal floats and scipy counts the same ties.
    eighths = lambda n, top=8: [rng.randint(0, top) / 8 for _ in range(n)]
    skewed = lambda n: [rng.expovariate(1.0) for _ in range(n)]
    rates = lambda n, share: [float(rng.random() < share) for _ in range(n)]
    pairs = [(eighths(n), eighths(n)) for n in (2, 3, 8, 12)]
    pairs.append((rates(14, 0.9), rates(14, 0.4)))
    pairs.append((skewed(11), skewed(11)))
    pairs.append(([0.1, 0.2, 0.3, 0.7], [0.2, 0.3, 0.6, 0.1]))  # ties on paper, not in binary
    many = [(eighths(90), eighths(90, 6)), (rates(130, 0.7), rates(130, 0.6))]
    families = [[rng.random() ** 3 for _ in range(n)] for n in (1, 2, 5, 12)]
    families.append([0.01, 0.04, 0.03, 0.005, 0.04])
    bits = {key: generator(20, stream) for key, stream in [("resample", RESAMPLE), ("signs", SIGNS)]}
    return {
        "versions": {name: version(name) for name in ["scipy", "statsmodels", "numpy"]},
        "random": {"seed": 20}
        | {key: [int(bit.random_raw()) for _ in range(8)] for key, bit in bits.items()},
        "normal": [
            {"p": p, "z": float(scipy.stats.norm.ppf(p))}
            for p in [1e-12, 5e-5, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999]
        ],
        "bca": [
            bca_case(eighths(5), 500, 1),
            bca_case(eighths(17), 2000, 2),
            bca_case(rates(20, 0.8), 2000, 3),
            bca_case(rates(60, 0.1), 2000, 4, level=0.9),
            bca_case(skewed(30), 2000, 5),
            bca_case([-x for x in skewed(25)], 2000, 6, level=0.99),
        ],
        "bootstrap": [
            whole_bootstrap_case(rates(100, 0.75)),
            whole_bootstrap_case(skewed(40)),
            whole_bootstrap_case(eighths(25), level=0.9),
        ],
        "permutation": [permutation_case(a, b) for a, b in pairs],
        "sampled_permutation": [
            sampled_permutation_case(a, b, 1000, seed) for seed, (a, b) in enumerate(many)
        ],
        "holm": [
            {"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()} for p in families
        ],
    }


if __name__ == "__main__":
    write("metrics.json", metrics())
    write("significance.json", significance())
