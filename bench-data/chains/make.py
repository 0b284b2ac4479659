#!/usr/bin/env python3
"""Writes the chains: questions over two to four facts about companies, each fact a passage of its own.

A question names the first company of its chain and nothing else of it; the questions `l...` name both
ends, and the passages between are judged 2. Beside each chain stands
another of the same length and the same relations, whose companies and people share a word of their
names with those of the first. Facts of the questions `o...` and `l...` are worded by `phrasings.json`,
those of the questions `k...` by `phrasings-kept.json`, which nobody reads who writes rules of extraction; the
distractors of a chain are worded as the chain is. Same seed, same bytes: `make.py --check` compares.
"""

import json
import random
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.append(str(FOLDER.parent))

from made import beir, write  # noqa: E402

SEED = 31
OPEN, LINKS, KEPT = 144, 36, 72

FIRST = """Alder Amber Anvil Arden Ashford Aspen Barley Basalt Beacon Birch Bramble Bristow Calder Canary
Carrow Cedar Clover Cobalt Copper Corbel Cresset Dalton Delph Dorset Drayton Elmet Ember Falcon Fenwick
Ferrow Garnet Glade Gorse Granby Halyard Harrow Hazel Heron Hollin Indigo Ivory Jasper Juniper Kestle
Lantern Larch Linden Lorimer Maple Marlow Merlin Mistral Morven Nettle Norden Oakham Ochre Onyx Orchard
Pallas Pemberton Pewter Quarry Quill Raven Redfern Rowan Saffron Sable Selwyn Sorrel Tallis Tansy Thorne
Umber Vesper Walden Westray Willow Wren Acorn Aubrey Bellamy Bracken Buckler Carmine Cinder Coral Curzon
Dunlin Elder Fallow Fathom Flint Gannet Gilder Hawser Jetty Keel Kittle Lapis Lowell Madder Mallow Marten
Moss Noble Osier Parry Plover Quartz Rook Rushmore Sedge Tamar Teal Tiller Vale Weaver Yarrow""".split()
TRADES = """Freight Foods Capital Optics Timber Textiles Motors Pumps Glass Ceramics Batteries Shipping
Paper Tools Dairy Chemicals Robotics Cables Bearings Seeds Plastics Lighting Software Metals""".split()
GIVEN = """Agnes Albert Beatrix Bernard Cecily Conrad Dora Edmund Elsa Felix Flora Gregor Greta Hector
Helga Ivo Johanna Karl Leonie Magnus Mathilda Nora Otto Petra Quentin Rosa Rupert Selma Tobias Ursula
Viktor Wanda""".split()
FAMILY = """Abney Aldous Bellweather Brandt Castell Crowhurst Dahl Dunning Eastlake Engel Farrant Fogg
Gellert Grimsby Hartwell Hobday Ingram Jessop Keswick Lindqvist Lovell Marchetti Naismith Oakley Pilgrim
Quayle Rademacher Sandoval Tennant Underhill Vance Wexford Yardley Zeller""".split()
PLACES = ["".join((a, b)) for a in """Ald Bex Crag Dun Esk Fal Glen Hax Isk Kel Loch Marsh Nor Orm Pen
Quor Ros Sten Tor Ulv Wath""".split() for b in "bourne dale ferry gate haven holm mouth stead wick".split()]

# What follows a fact: sentences without names, so that a passage holds one fact.
FILLERS = [
    "The figures for the year are due in spring.",
    "A new hall is being built.",
    "The works council agreed to longer shifts.",
    "Trade journals have written little about it.",
    "Prices rose by four percent.",
    "An audit found nothing to object to.",
    "The website has been redone.",
    "There is talk of a branch abroad.",
    "The next meeting is in autumn.",
    "Apprentices are still being sought.",
]
# What a relation leads from and to.
LEADS = {
    "owner": ("company", "company"),
    "supplier": ("company", "company"),
    "founder": ("company", "person"),
    "chief": ("company", "person"),
    "seat": ("company", "place"),
    "birthplace": ("person", "place"),
}
# How a question speaks of what a relation leads to, within itself and at its end.
INNER = {
    "owner": ["the owner of {}", "the company that owns {}", "{}'s parent company"],
    "supplier": ["the supplier of {}", "the company that supplies {}", "{}'s supplier"],
    "founder": ["the founder of {}", "the person who founded {}", "{}'s founder"],
    "chief": ["the chief executive of {}", "the person who runs {}", "{}'s managing director"],
}
LAST = {
    "owner": ["Which company owns {}?", "Who is the parent of {}?"],
    "supplier": ["Which company supplies {}?", "From whom does {} get its parts?"],
    "founder": ["Who founded {}?", "By whom was {} set up?"],
    "chief": ["Who runs {}?", "Who is the head of {}?"],
    "seat": ["In which town is {} based?", "Where is the head office of {}?"],
    "birthplace": ["Where was {} born?", "What is the birthplace of {}?"],
}
# How a question asks for what lies between.
LINKS_ASKED = [
    "How is {} connected with {}?",
    "What do {} and {} have to do with each other?",
    "Which links lead from {} to {}?",
    "Is there anything that ties {} to {}?",
]


class Names:
    """Names that are given once each."""

    def __init__(self, draw):
        self.draw, self.given = draw, set()

    def fresh(self, kind, like=None):
        """A new name; of a company or a person that shares a word with `like`."""
        while True:
            if kind == "company":
                first = like.split()[0] if like else self.draw.choice(FIRST)
                name = f"{first} {self.draw.choice(TRADES)}"
            elif kind == "person":
                family = like.split()[1] if like else self.draw.choice(FAMILY)
                name = f"{self.draw.choice(GIVEN)} {family}"
            else:
                name = self.draw.choice(PLACES)
            # A town has many people and companies.
            if kind == "place" or name not in self.given:
                self.given.add(name)
                return name


def relations(draw, hops):
    """A path of relations from a company, each leading to what the next leads from."""
    while True:
        path, kind = [], "company"
        for _ in range(hops):
            fitting = [name for name, (start, _) in LEADS.items() if start == kind]
            if not fitting:
                break
            path.append(draw.choice(fitting))
            kind = LEADS[path[-1]][1]
        if len(path) == hops:
            return path


def question(draw, start, path):
    thing = start
    for relation in path[:-1]:
        thing = draw.choice(INNER[relation]).format(thing)
    text = draw.choice(LAST[path[-1]]).format(thing)
    return text[0].upper() + text[1:]


def passage(draw, phrasings, relation, subject, thing):
    sentence = draw.choice(phrasings[relation]).replace("{s}", subject).replace("{o}", thing)
    return " ".join([sentence, *draw.sample(FILLERS, 2)])


def files():
    draw = random.Random(SEED)
    names = Names(draw)
    queries, passages = [], []
    parts = (
        ("o", OPEN, "phrasings.json"),
        ("l", LINKS, "phrasings.json"),
        ("k", KEPT, "phrasings-kept.json"),
    )
    for part, count, file in parts:
        phrasings = json.loads((FOLDER / file).read_text(encoding="utf-8"))
        for at in range(count):
            linked = part == "l"
            path = relations(draw, 3 if linked else 2 + at % 3)
            kinds = ["company", *(LEADS[relation][1] for relation in path)]
            chain = [names.fresh(kind) for kind in kinds]
            other = [names.fresh(kind, name) for kind, name in zip(kinds, chain)]
            query = f"{part}{at + 1:03}"
            asked = question(draw, chain[0], path)
            if linked:
                asked = draw.choice(LINKS_ASKED).format(chain[0], chain[-1])
            queries.append((query, len(path), asked))
            for things in (chain, other):
                for step, (relation, subject, thing) in enumerate(zip(path, things, things[1:])):
                    between = linked and 0 < step < len(path) - 1
                    gold = (query, 2 if between else 1) if things is chain else None
                    passages.append((gold, passage(draw, phrasings, relation, subject, thing)))
    draw.shuffle(passages)
    corpus = [{"_id": f"c{at:04}", "title": "", "text": text} for at, (_, text) in enumerate(passages)]
    asked = [{"_id": query, "text": text, "type": f"{hops} hops"} for query, hops, text in queries]
    gold = sorted((*of, at) for at, (of, _) in enumerate(passages) if of)
    return beir(corpus, asked, [(query, f"c{at:04}", grade) for query, grade, at in gold])


write(FOLDER, files())
