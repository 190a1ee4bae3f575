"""English words for the conflict guard: opposites, synonyms, quantities, fillers.

A pair also covers its inflected forms, as far as the stems agree. Add new words here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memory_pipeline.text.days import MONTHS
from memory_pipeline.text.facts import stem

_OPPOSITES = """
pass:fail success:failure succeed:fail enable:disable allow:deny allow:forbid allow:block allow:prevent accept:reject
accept:decline accept:refuse approve:reject approve:decline increase:decrease increase:reduce raise:lower raise:reduce
raise:cut rise:fall rose:fell grow:shrink grew:shrank expand:contract expand:shrink extend:shorten gain:lose gain:loss
up:down on:off in:out open:closed open:close start:stop start:end start:finish start:cancel begin:end active:inactive
online:offline available:unavailable true:false yes:no correct:incorrect correct:wrong right:wrong before:after
first:last early:late earlier:later fast:slow faster:slower high:low higher:lower highest:lowest max:min
maximum:minimum above:below over:under inside:outside within:outside more:less more:fewer most:least many:few
big:small big:tiny large:small large:tiny greater:smaller larger:smaller bigger:smaller huge:tiny long:short
longer:shorter long:brief tall:short wide:narrow deep:shallow thick:thin broad:narrow heavy:light strong:weak
hard:soft hard:easy difficult:easy add:remove add:delete install:uninstall create:delete create:destroy keep:drop
keep:delete keep:discard insert:delete attach:detach include:exclude contain:lack with:without public:private
internal:external inner:outer local:remote local:global read:write client:server sender:receiver send:receive
input:output upload:download import:export push:pull encrypt:decrypt encode:decode compress:decompress
serialize:deserialize lock:unlock mount:unmount bind:unbind load:unload connect:disconnect online:down
required:optional mandatory:optional needed:unneeded safe:unsafe safe:dangerous secure:insecure stable:unstable
stable:flaky healthy:unhealthy healthy:sick working:broken works:broken works:breaks works:fails fixed:broken
complete:incomplete complete:partial completed:pending done:pending done:open done:blocked finished:pending
finished:unfinished resolved:unresolved resolved:open solved:unsolved ready:blocked merged:reverted merged:open
deployed:reverted shipped:postponed shipped:blocked scheduled:cancelled confirmed:denied confirm:deny admit:deny
always:never all:none everyone:nobody everything:nothing everybody:nobody somebody:nobody like:dislike love:hate
love:dislike enjoy:hate prefer:avoid prefer:dislike want:refuse trust:distrust agree:disagree support:oppose good:bad
good:poor better:worse best:worst improve:worsen improve:degrade improved:regressed useful:useless helpful:harmful
beneficial:harmful cheap:expensive cheap:costly free:paid rich:poor light:dark bright:dim hot:cold warm:cold warm:cool
hot:cool wet:dry clean:dirty full:empty fresh:stale new:old young:old modern:outdated current:outdated fast:sluggish
quick:slow quickly:slowly rapidly:slowly ascending:descending horizontal:vertical left:right top:bottom front:back
head:tail north:south east:west forward:backward forwards:backwards upstream:downstream upper:lower
uppercase:lowercase prefix:suffix morning:evening morning:afternoon day:night summer:winter spring:autumn
today:yesterday today:tomorrow tomorrow:yesterday sync:async synchronous:asynchronous blocking:nonblocking
manual:automatic manually:automatically static:dynamic fixed:variable constant:variable serial:parallel
sequential:parallel positive:negative profit:loss win:lose won:lost buy:sell bought:sold bullish:bearish credit:debit
income:expense asset:liability present:absent present:missing found:missing exists:missing visible:hidden show:hide
strict:lenient strict:loose rigid:flexible recommended:discouraged encouraged:discouraged mutable:immutable
inbound:outbound incoming:outgoing ingress:egress primary:secondary primary:replica primary:backup master:slave
main:backup production:staging prod:staging staging:development beginning:end entry:exit enter:exit enter:leave
arrive:leave arrive:depart join:leave remember:forget accepted:declined green:red green:yellow ok:broken ok:failed
success:error pass:error permanent:temporary definite:uncertain certain:uncertain known:unknown same:different
similar:different equal:different simple:complex simple:complicated sharp:blunt smooth:rough tight:loose full:partial
fully:partially fully:partly completely:partially completely:partly entirely:partly wholly:partly exactly:roughly
directly:indirectly awake:asleep alive:dead guilty:innocent legal:illegal married:single friend:enemy parent:child
teacher:student question:answer cause:effect demand:supply attack:defend build:destroy build:demolish borrow:lend
catch:miss hit:miss float:sink freeze:melt laugh:cry lead:follow praise:blame praise:criticise reward:punish
save:waste save:spend spend:earn save:lose separate:combine split:merge split:join union:intersection sink:source
tighten:loosen verified:unverified valid:invalid signed:unsigned paid:unpaid public:secret enabled:off disabled:on
running:stopped running:down running:dead up:dead passing:broken relevant:irrelevant possible:impossible
likely:unlikely often:rarely often:seldom frequently:rarely usually:rarely usually:never sometimes:never
sometimes:always daily:weekly weekly:monthly daily:hourly prior:following prior:after before:following monthly:yearly
daily:monthly hourly:weekly
"""

#: Groups of words that may replace each other in an otherwise equal sentence.
_SAME = """
begin start commence launch initiate|end finish stop conclude|fix repair mend correct|error fault bug defect
issue problem trouble|use utilise utilize employ|big large sizeable|small little tiny|fast quick rapid swift speedy
quickly fast rapidly swiftly|slow sluggish|buy purchase acquire|get obtain receive fetch retrieve|need require
must should|about roughly approximately around circa nearly|show display present|shown displayed|happen occur arise
usually normally generally typically mostly|ask request query|help assist aid support
wrong incorrect mistaken erroneous|right correct proper|keep retain preserve maintain|whole entire complete full
often frequently|also too additionally likewise furthermore moreover|build construct assemble compile
check verify confirm validate inspect examine|make create produce generate build|made created produced generated built
must has have should|update refresh renew|remove delete erase drop strip|add append insert put include attach
move shift relocate transfer|try attempt|see notice spot observe saw noticed|want like wish|each every|task job item
choose pick select|give provide supply offer|run execute perform|running executing|clean tidy neat|simple plain easy
mistake slip error|write store save record|improve better enhance|several multiple many numerous|look view check
tell inform notify|say state mention|think believe|know understand|important essential crucial key vital
hard difficult tough|change modify alter edit adjust|set configure|option setting|folder directory|file document
picture image photo|message note|meeting call|car vehicle|home house|kid child|doctor physician|movie film
phone telephone|mail email e-mail|web internet|website site|server host machine box|customer client|user person
colleague coworker|staff team|firm company business|shop store|price cost|cheap inexpensive|costly expensive
free gratis|old previous former prior|new fresh|last final|first initial|next following subsequent|current present
since because as|so therefore thus hence|but however yet though although|while whereas|when once whenever|if provided
before prior|after following|until till|during throughout|near close|over above|under below beneath|between among
without lacking|via through using|per every|good fine great|bad poor|nice pleasant|happy glad|sad unhappy|angry upset
tired exhausted|sick ill|safe secure|dangerous risky|empty blank|full complete|ready prepared
done finished completed complete|deploy release ship rollout|rollback revert|merge combine join unite
split divide separate|copy duplicate clone|send dispatch transmit submit|fail break|failed broke|crash die
hang freeze stall|wait pause|retry repeat|return yield|call invoke|print output emit log|read parse load|test check
measure gauge|count tally|speed pace|limit cap restrict|allow permit enable let|block prevent stop|ensure guarantee
avoid prevent|follow obey|lead guide|explain describe clarify|discuss talk|decide determine|agree concur|plan intend
expect anticipate|hope wish|prefer favour favor|learn discover find|found discovered|teach instruct|remember recall
forget overlook|lose misplace|reach hit attain achieve|gain earn|grow expand|shrink contract|rise climb increase
fall decrease decline drop|reduce lower cut decrease|raise increase lift|double twice|half halve|part portion piece
section segment|kind type sort|way manner method approach|reason cause|result outcome effect|goal aim target objective
idea notion concept|rule guideline|list enumerate|table chart|number figure|amount quantity|group set batch
pair couple|line row|column field|word term|name title label|place location spot|time moment|day date|year annum
morning am|evening pm|today now|immediately instantly promptly|soon shortly|always constantly|sometimes occasionally
rarely seldom|again anew|together jointly|alone solely|only just solely merely|even still|maybe perhaps possibly
surely certainly definitely|repo repository|config configuration|db database|env environment|docs documentation
prod production|dev development|auth authentication|info information|app application|admin administrator
perf performance|stats statistics|max maximum|min minimum|avg average mean|msg message|deps dependencies
param parameter argument arg|params parameters arguments args|temp temporary tmp|spec specification|lib library
util utility|dir directory|pkg package|func function fn|var variable|int integer|str string|bool boolean
char character|num number|id identifier|ref reference|req request|res response resp|src source|dst destination dest
ctx context|conn connection|err error|prev previous|curr current|cmd command|exec execute|init initialise initialize
sync synchronise synchronize|async asynchronous|k8s kubernetes|pg postgres postgresql|js javascript|ts typescript
py python|md markdown|vs versus|ai assistant agent|ml learning|ui interface|api endpoint|url link address
pw password passwd|pr pull-request|mr merge-request|ci pipeline|vm machine|photo picture|lunch meal|dinner supper
holiday vacation|flat apartment|autumn fall|lift elevator|film movie|maths math|rubbish trash garbage
programme program|colour color|favourite favorite|behaviour behavior|centre center|grey gray|tyre tire|licence license
cheque check|ok okay fine|child children kid kids|person persons people|man men|woman women|mouse mice|foot feet
tooth teeth|index indexes indices|matrix matrices|criterion criteria|shelf shelves|half halves|temp temperature
cam camera|grandma grandmother granny|grandpa grandfather|mum mom mother|dad father|share send|pic picture photo
bike bicycle|fridge refrigerator|phone mobile smartphone|wifi wi-fi wlan|approx approximately|appt appointment
noise noisy|postpone delay reschedule
"""

#: Words of quantity and frequency, from nothing to everything; two different ones are different claims.
QUANTITIES = frozenset(
    "all every each any no none some most many few several both either neither only also always never sometimes often "
    "rarely usually seldom occasionally frequently half partly partially fully completely entirely exclusively "
    "everyone everybody nobody someone somebody everything nothing something hardly barely".split()
)
#: Words that reverse or narrow a statement when they are inserted.
RESTRICTIONS = frozenset(
    "not no never none nothing nobody nor neither without cannot hardly barely scarcely seldom rarely unless except "
    "avoid stop refuse lack lacks lacking fails failed forbidden prohibited banned deprecated obsolete".split()
)
#: Words without a meaning of their own.
FILLERS = frozenset(
    "a an the very really actually basically simply just quite rather indeed please well ok okay so then here there "
    "again obviously clearly honestly literally of course fact mentioned as already that which to in though tho pls "
    "plz btw fyi".split()
)
#: Verbs, adverbs and connectives that add little to the words around them: no statement is told apart by one of them.
LIGHT_WORDS = frozenset(
    "go goes went gone going come comes came coming take takes took taken get gets got make makes made have had "
    "become becomes became begin begins began begun start starts started happen happens happened occur occurs "
    "occurred show shows shown showed see sees saw seen give gives gave given put puts bring brings brought turn "
    "turns turned return returns returned long still time way around yet now today noted logged reminder following "
    "reason cause causes caused causing".split()
)
#: Irregular past forms; verbs of state; verbs of duty and permission.
PAST_VERBS = frozenset(
    "took went came fell made saw lost cost began ran got said found broke sent left rose became was were had did gave "
    "grew held kept led met paid put sold spent stood taught told thought won wrote shown seen gone taken".split()
)
STATE_WORDS = frozenset("is are be been being has have am".split())
RULE_WORDS = frozenset("must should shall always never may can cannot".split())
RELATIVE_DAYS = frozenset(map(str.lower, MONTHS)).union(
    "today yesterday tomorrow tonight spring summer autumn fall winter morning noon afternoon evening night midnight "
    "weekday weekend weekdays weekends next last".split()
)
_NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de", "anti")


@lru_cache(maxsize=20_000)
def root_of(word: str) -> str:
    """The stem without the `e` that some endings remove and the letter that they double: `enable` and `enabled`, `stop`
    and `stopped` share it."""
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    root = stem(word).rstrip("e")
    doubled = len(root) > 3 and root[-1] == root[-2] and root != word and root[-1] not in "lsfz"
    return root[:-1] if doubled else root


def _links(pairs: str) -> dict[str, frozenset[str]]:
    links: dict[str, set[str]] = {}
    for pair in pairs.split():
        one, other = pair.split(":")
        for left, right in ((one, other), (root_of(one), root_of(other))):
            links.setdefault(left, set()).add(right)
            links.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in links.items()}


def _read_groups(text: str) -> dict[str, frozenset[int]]:
    """The numbers of the groups of words (`begin start|end finish`) in which a word or a root stands."""
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(text.replace("\n", "|").split("|")):
        for word in group.split():
            for form in (word, root_of(word)):
                groups.setdefault(form, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


_OPPOSITE_OF = _links(_OPPOSITES)
_GROUPS_OF = _read_groups(_SAME)


def find_opposites(left: Sequence[str], right: Sequence[str]) -> tuple[str, str] | None:
    """The first word of one side with the first opposite of the other, or None. Fast for long sides, too."""
    place: dict[str, int] = {}
    by_root: dict[str, int] = {}
    bare: dict[str, int] = {}
    for n, word in enumerate(right):
        place.setdefault(word, n)
        by_root.setdefault(root_of(word), n)
        for plain in _without_prefix(word):
            bare.setdefault(plain, n)
    for word in left:
        positions = [place[opposite] for opposite in _OPPOSITE_OF.get(word, ()) if opposite in place]
        positions += [by_root[root] for root in _OPPOSITE_OF.get(root_of(word), ()) if root in by_root]
        positions += [place[plain] for plain in _without_prefix(word) if plain in place]
        positions += [bare[word]] if word in bare else []
        if positions:
            return word, right[min(positions)]
    return None


def _without_prefix(word: str) -> list[str]:
    """The word that a negative prefix reverses: `valid` for `invalid`."""
    bare = (word.removeprefix(p).removeprefix("-") for p in _NEGATIVE_PREFIXES if word.startswith(p))
    return [plain for plain in bare if len(plain) >= 3]


def are_opposites(one: str, other: str) -> bool:
    """True if two lower-case words are opposites: `passed` and `failed`, `valid` and `invalid`."""
    return find_opposites((one,), (other,)) is not None


def mean_the_same(one: str, other: str) -> bool:
    """True if one lower-case word may replace the other: the same stem, a synonym, an abbreviation, a typing error or
    the other spelling."""
    if root_of(one) == root_of(other) or _spelling(one) == _spelling(other):
        return True
    mine, theirs = (
        _GROUPS_OF.get(word, frozenset()) | _GROUPS_OF.get(root_of(word), frozenset()) for word in (one, other)
    )
    if not mine.isdisjoint(theirs):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 3 and len(longer) - len(shorter) >= 6 and longer.startswith(shorter):
        return True  # an abbreviation: `perf` for `performance`
    return _is_slip(one, other)


@lru_cache(maxsize=20_000)
def _spelling(word: str) -> str:
    """One spelling for British and American words, and for doubled letters: `colour`, `organised`, `committed`."""
    if len(word) < 6:
        return word
    for british, american in (("ise", "ize"), ("isa", "iza"), ("isi", "izi"), ("our", "or"), ("yse", "yze")):
        word = word.replace(british, american)
    if len(word) < 8:
        return stem(word)
    return stem("".join(letter for n, letter in enumerate(word) if n == 0 or letter != word[n - 1]))


def _is_slip(one: str, other: str) -> bool:
    """Different order of the letters between the same first and last one, in a word of at least six letters."""
    return len(one) == len(other) >= 6 and letters_of(one) == letters_of(other)


def letters_of(word: str) -> tuple[str, str, str]:
    """The part of a word that stays when letters inside it are swapped: its ends and its letters."""
    return word[0], word[-1], "".join(sorted(word))
