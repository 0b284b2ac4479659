"""The hash provider in Python: python3 hash_reference.py writes hash_oracle.json beside itself."""
import json, math, pathlib, re, struct

IDEOGRAPHIC = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SEPARATOR = ("\u0000-/:-@\\[-^`{-\u00bf\u00d7\u00f7\u2000-\u2bff\u2e00-\u2e7f\u3000-\u303f\ud800-\uf8ff"
             "\ufe00-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffff"
             "\U0001f000-\U0001faff\U000e0000-\U0010ffff")
RUNS = re.compile(f"([{IDEOGRAPHIC}]+)|([^{IDEOGRAPHIC}{SEPARATOR}]+)")
LOWER = str.maketrans({c: c + 32 for c in range(65, 91)})
M = 2**64 - 1

def tokens(text):
    for ideographs, word in RUNS.findall(text.translate(LOWER)):
        yield from ([word] if word else ideographs)
        yield from (ideographs[i : i + 2] for i in range(len(ideographs) - 1))

def hashed(token):
    h = 0xCBF29CE484222325
    for byte in token.encode():
        h = (h ^ byte) * 0x100000001B3 & M
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M
    return h ^ h >> 33

def embed(text, dimension=512):
    for words in (list(tokens(text)) or [""], [""]):
        sums = [0] * dimension
        for h in map(hashed, words):
            sums[h % dimension] += -1 if h >> 63 else 1
        if any(sums):
            norm = math.sqrt(sum(x * x for x in sums))
            return [x / norm for x in sums]  # to be rounded to 32 bits

def cancelling(dimension):
    """Two words that cancel: the same place, opposite signs."""
    seen = {}
    for n in range(10**6):
        h = hashed(f"w{n}")
        if (h % dimension, 1 - (h >> 63)) in seen:
            return f"{seen[h % dimension, 1 - (h >> 63)]} w{n}"
        seen.setdefault((h % dimension, h >> 63), f"w{n}")

TEXTS = """
a|A|ab AB aB|hello, world!|The training objective of an LLM is next-token prediction.
大模型的训练目标是什么|LLM 的训练目标是什么|大|大大|大大大|清空梯度：optimizer.zero_grad()|zero_grad v1.5 e-mail
自动微分（autograd）记录计算图，反向传播时求导。|第13章用的是 hash 向量|人工智能AI与LLM混排文本2024年|カタカナとひらがな|한국어 문장
Ünïcödé café naïve ÀÉ|Привет, МИР|Ελλάδα ς Σ|İıß ﬁ Å|e\u0301 \u00e9|ＦＵＬＬｗｉｄｔｈ１２３，。！|ｶﾀｶﾅ|🙂|🙂 smile 🙂|👩‍👩‍👧 family|❤️ ★ → ∑ ½|𠀀𠀁|﷽ ﹏ ︽|\ue000private\U000f0000
१२३ ٣٤٥|x×y÷z|€100 £5 ¥20|a_b __init__|<html>&amp;</html>|\u200bzero\u200bwidth\ufeff|tab\\tnew\\nline|豈更|々〆〇|㐀䶿|αβγ测试mixed混合|the the the the|...|、。！？|ノ ・ ー
""".replace("\\t", "\t").replace("\\n", "\n").strip("\n")

if __name__ == "__main__":
    texts = ["", " ", "\n\t ", "\u0000"] + [t for line in TEXTS.splitlines() for t in line.split("|")]
    texts += ["梯度下降 gradient descent " * 500, cancelling(512), cancelling(8)]
    cases = []
    for dimension in (512, 8, 384, 1000):
        for text in texts:
            bits = [struct.unpack("<I", struct.pack("<f", x))[0] for x in embed(text, dimension)]
            cases.append({"text": text, "dimension": dimension, "tokens": len(list(tokens(text))),
                          "bits": {str(i): b for i, b in enumerate(bits) if b & 0x7FFFFFFF}})
    lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases)
    pathlib.Path(__file__).with_name("hash_oracle.json").write_text(f"[\n{lines}\n]\n")
    print(len(texts), "texts,", len(cases), "cases")
