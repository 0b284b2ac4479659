#!/usr/bin/env python3
"""Writes the audit set: chains of ownership over three documents each, among documents of one trade.

No document of a chain says what the question asks, and the middle one shares no name with it. The
other documents speak of the same trade without repeating the question. The middle one is judged 2. The
first chain is the one of the course chapter. Same seed, same bytes: `make.py --check` compares.
"""

import random
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.append(str(FOLDER.parent))

from made import beir, write  # noqa: E402

SEED = 14
DISTRACTORS = 240

# Who asks after whom: the capital, the fund, the trust, the company at the other end.
CHINESE = [
    ("Alpha", "Cayman 星辰", "Horizon", "Gamma"),
    ("Breva", "Jersey 海角", "Lantern", "Kestrel"),
    ("Corvo", "Malta 白塔", "Meridian", "Osprey"),
    ("Delmar", "Samoa 青屿", "Northgate", "Petrel"),
    ("Estoril", "Bermuda 晨湾", "Palisade", "Quetzal"),
    ("Fairwind", "Nevis 石榴", "Ravine", "Sandpiper"),
]
ENGLISH = [
    ("Garrick", "Thistle", "Umberland", "Vireo"),
    ("Halden", "Wexley", "Yarrow", "Zander"),
    ("Ibsley", "Ashgrove", "Birchholm", "Curlew"),
    ("Jorvik", "Dunmore", "Elderby", "Finch"),
    ("Kirkwall", "Glenfall", "Hartsmere", "Ibis"),
    ("Larkhill", "Juniper", "Kelmscott", "Lapwing"),
]


def chinese(capital, fund, trust, company, share):
    return (
        f"{capital} 资本的最终实控人是否涉足对 {company} 科技的投资与跨境制裁名单？",
        [
            f"{capital} 资本由开曼注册的 {fund}基金全资控股，主要布局亚太半导体硬科技基础设施。",
            f"{fund}基金的最大受益人为实控人张某设立的 {trust} 家族信托，管理资产规模超十亿美元。",
            f"{trust} 家族信托持有 {company} 科技 {share}% 的控股股权。此外，其委托人张某已被列入近期跨境制裁名单。",
        ],
    )


def english(capital, fund, trust, company, share):
    return (
        f"Does whoever stands behind {capital} Capital have money in {company} Robotics, and is that person under sanctions?",
        [
            f"{capital} Capital is wholly owned by the {fund} Fund and builds warehouses for chip makers.",
            f"The {fund} Fund is held for the benefit of the {trust} Family Trust, which was set up in 1998.",
            f"The {trust} Family Trust owns {share} percent of {company} Robotics. Its settlor has been under sanctions since March.",
        ],
    )


def distractor(draw):
    a, b, c, d = (draw.randrange(n) for n in (25, 40, 25, 40))
    share = draw.randrange(20, 90)
    return draw.choice([
        f"Orion{a} 资本由开曼注册的 Vega{b} 基金控股，布局东南亚物流设施。",
        f"Vega{b} 基金的受益人为 Lyra{c} 家族信托，管理资产超过五亿美元。",
        f"Lyra{c} 家族信托持有 Draco{d} 科技 {share}% 的股权，投资金额 2 亿元。",
        f"Draco{d} 科技因出口管制接受调查，部分投资暂缓，股东尚未回应。",
        f"Tarn{a} Capital is owned by the Moor{b} Fund and builds ports.",
        f"The Moor{b} Fund is held for the benefit of the Fell{c} Family Trust.",
        f"The Fell{c} Family Trust owns {share} percent of Crag{d} Robotics.",
        f"Crag{d} Robotics was named in a report on sanctions and export controls.",
    ])


def files():
    draw = random.Random(SEED)
    questions, passages = [], []
    for write, names in ((chinese, CHINESE), (english, ENGLISH)):
        for at, row in enumerate(names):
            share = 65 if (write, at) == (chinese, 0) else draw.randrange(51, 90)
            question, chain = write(*row, share)
            questions.append(question)
            passages += [((len(questions), 1 + (at == 1)), text) for at, text in enumerate(chain)]
    seen = {text for _, text in passages}
    while len(passages) < 3 * len(questions) + DISTRACTORS:
        text = distractor(draw)
        if text not in seen:
            seen.add(text)
            passages.append((None, text))
    draw.shuffle(passages)
    corpus = [{"_id": f"d{at:03}", "title": "", "text": text} for at, (_, text) in enumerate(passages)]
    queries = [{"_id": f"q{at:02}", "text": text} for at, text in enumerate(questions, 1)]
    gold = sorted((of[0], at, of[1]) for at, (of, _) in enumerate(passages) if of)
    return beir(corpus, queries, [(f"q{of:02}", f"d{at:03}", grade) for of, at, grade in gold])


write(FOLDER, files())
