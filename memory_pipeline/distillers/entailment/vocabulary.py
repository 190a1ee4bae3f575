"""English words that the check of statements treats in their own way: without weight, of quantity, of state."""

from __future__ import annotations

#: Words that say little on their own: an abstraction may use them where no source does.
LIGHT = frozenset(
    "though although while whereas least especially particularly notably else far so above below under over others "
    "value values figure figures size sizes amount amounts time times duration durations number numbers count counts "
    "counted reading readings measurement measurements measured record records recorded result results outcome "
    "outcomes range ranges ranged ranging list lists listed item items entry entries case cases instance instances "
    "occasion occasions run runs ran running check checks report reports reported reporting show shows showed shown "
    "reach reaches reached reaching contain contains contained include includes included including comprise comprises "
    "consist consists vary varies varied differ differs lie lies total take takes took taken taking last lasts lasted "
    "lasting go goes went gone come comes came get gets got happen happens happened occur occurs occurred keep stay "
    "stays stayed remain remains become becomes give gives given gave make makes made making use uses used using "
    "perform performs performed follow respectively otherwise instead see stand stands different various thing things "
    "one ones kind kinds way ways place places part parts even per each respective overall between from until through "
    "towards there also still about around roughly approximately against among within along without day days date "
    "dates event events being must should shall need needs needed ought do exactly namely note noted say says "
    "said state states stated mention mentions mentioned call calls called name named known like such well onwards "
    "respectively aspect aspects element elements component components capability capabilities area areas property "
    "properties information detail details fact facts reason reasons cause causes caused causing lead leads led "
    "leading mean means meaning work works worked working have has had hold holds held put want wants wanted let lets "
    "new".split()
)
ANAPHORS = frozenset(
    "we i our my it its they their them this that these those he she his her him there then such one".split()
)
#: Quantity and frequency, by how much of the sources must bear it out.
ALWAYS = frozenset("always all every each consistently constantly invariably entirely everywhere everyone both".split())
MOSTLY = frozenset(
    "most mostly usually typically generally normally mainly predominantly largely majority primarily".split()
)
OFTEN = frozenset("often frequently repeatedly regularly commonly recurring recurrently many several again".split())
SOMETIMES = frozenset("sometimes occasionally some partly".split())
RARELY = frozenset("rarely seldom hardly".split())
TIMES = {"once": 1, "twice": 2, "thrice": 3}
QUANTIFIERS = ALWAYS | MOSTLY | OFTEN | SOMETIMES | RARELY | frozenset(TIMES)
#: Order in time, which only a source or its date can give.
ORDER = frozenset(
    "later then afterwards subsequently eventually finally first previously earlier meanwhile now".split()
)
#: How values compare with the others of their kind: below them or above.
RELATIVE = {
    **dict.fromkeys("fast faster quick quicker short shorter low lower small smaller less fewer".split(), -1),
    **dict.fromkeys("slow slower long longer high higher large larger big bigger greater more peak".split(), 1),
}
#: What is open, and what is done.
OPEN = frozenset(
    "todo open pending planned plan plans planning scheduled unfinished wip upcoming outstanding unresolved yet".split()
)
