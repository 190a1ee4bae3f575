"""The ways in which people take back what they said: a permission that ends, a limit that is lifted, what is so no
longer, what was not so, what they stopped doing, and a decision that is given up. Each names its subject as `what`, and
where there is one, whose state it is as `who`.
"""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import form


def _forms(*ways: str) -> tuple[re.Pattern[str], ...]:
    return tuple(form(way) for way in ways)


#: Without one of these, nothing is taken back.
SIGN = re.compile(
    r"no longer|any ?more|any longer|from now on|after all|again|n't|dont|\b(?:not|no|may|can|free|allowed|welcome|yours|ok|okay|fine|stop\w*|quit|given|gave|giv\w+|enough|"
    r"mind|minds|thoughts?|reflection|hindsight|think|resigned|decision|call|mine|lost|dropp\w+|left|leaving|done|through|moved|moving|myself|over|overcome|switch\w*|out|mistake|too|down|gone|tired|sick|rid|started|begun|gone)\b|take back|withdraw|revoke|no more|needn't|"
    r"scrap|forget|drop|ditch|ending|ended|never ?mind|cancel|disregard|abandon|retir|off the table|happening|history|out\b|\boff\b|\bdead\b|"
    r"\bgone\b|instead of|rather than|in place of|permission",
    re.IGNORECASE,
)
#: A character of what is told: no mark that ends a clause, but those in `9:15`, `Dr. Brandt` and `score.py`.
_CHAR = r"(?:[^,;:.!?–—\n]|(?<=\d)[:.,](?=\d)|(?<=\b[DM]r)\.(?= )|\.(?=\w))"
ENDS = r"(?=\s*(?:[,;:!–—]|\.(?!\w)|\s-|$|\b(?:and|but|because|since|so|instead)\b))"
_WHAT = rf"(?P<what>{_CHAR}{{2,90}}?)"
_ANY_MORE = r"(?:any ?more|any longer|from now on|after all|these days|nowadays)"
_NOT_ALLOWED = (
    r"(?:may not|can't|cannot|can not|mustn't|must not|shouldn't|should not|"
    r"(?:are |'re )not (?:allowed|permitted|free) to|aren't (?:allowed|permitted|free) to)"
)
_NAME = r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
_THING = rf"(?:(?:my|our|the|this|that) (?:[\w'-]|(?<=\b[DM]r)\.| ){{2,40}}?|(?!(?:I|We|You|It|That|This|There|He|She|They|What|Who)\b){_NAME})"
_SUBJECT = rf"(?P<who>i|we|{_THING})"
_NOT = r"(?:'m not| am not|'re not| are not| aren't|'s not| is not| isn't| don't| do not| doesn't| does not| won't| will not| can't| cannot)"
_HAVE = r"(?:'ve| have|'s| has|'re| are|'m| am| is)?"
_LATELY = r"(?: (?:now|finally|just|recently|already|all|also|actually|completely|really))*"

#: A permission, a task or a custom of the agent that ends.
ENDED = _forms(
    rf"you (?:may|can|shall|should|must|will) no longer (?:just )?{_WHAT}{ENDS}",
    rf"you(?:'re| are) no longer (?:allowed|permitted|free|authori[sz]ed|cleared|entitled|welcome|to) (?:to )?{_WHAT}{ENDS}",
    rf"you ?{_NOT_ALLOWED} {_WHAT} {_ANY_MORE}\b",
    rf"(?:please )?(?:don't|do not|dont) (?!(?:need|have) to\b){_WHAT} (?:any ?more|any longer)\b",
    rf"i (?:take back|withdraw|revoke) (?:my |the |your |that |all )?(?:permission|ok|okay|go-ahead|approval|consent) (?:to|for) {_WHAT}{ENDS}",
    rf"(?:your |the |my )?permission (?:to|for) {_WHAT} (?:is|has been) (?:revoked|withdrawn|cancelled|over|gone){ENDS}",
    rf"no more (?P<what>[a-z]+ing [^,;:.!?–—]{{2,80}}?){ENDS}",
)  # fmt: skip
#: What was left to the agent, or was its custom.
NO_MORE = _forms(
    rf"you no longer {_WHAT}{ENDS}",
    r"(?:i'd like to|i would like to|i want to|i'd rather|i would rather|i prefer to|i'll|i will|i) (?P<what>(?:[a-z]+) [^,;:.!?–—]{3,80}?) (?:(?:by )?myself) (?:again|from now on|now|after all|in (?:the )?future)\b",
)
#: What the human decides alone again.
MINE = _forms(
    r"(?!that\b|it\b|this\b|you\b)(?P<what>[\w' -]{3,60}?) (?:is|are) (?:my (?:decision|call|choice|business|job|part|department)|mine|up to me) (?:again|from now on|now|from here on)\b"
)
#: What the agent is told to stop, or is to be no more.
STOP = _forms(
    rf"(?:please |pls |now |just )*(?:stop|quit) (?P<what>[a-z]+ing\b[^,;:.!?–—]{{2,80}}?)(?: from now on| any ?more| again| please)?{ENDS}",
    r"no (?!longer\b|more\b)(?P<what>[\w' -]{3,60}?) (?:any ?more|any longer)\b",
)
#: Such forms are a limit, whatever was allowed before; `don't wait any more` is none.
OF_THE_AGENT = re.compile(r"(?:you|your|the|my|i)\b", re.IGNORECASE)
_ALLOWED = r"(?:fine|okay|ok|allowed|permitted|possible|safe|free|open|good|yours|all yours|alright|all right|cleared)"
#: A limit that is lifted.
LIFTED = _forms(
    rf"you (?:may|can) (?:now |always |just )?{_WHAT} (?:again(?! and again)|after all)\b",
    rf"you(?:'re| are) (?:now )?(?:allowed|permitted|free|welcome|cleared) to {_WHAT} (?:again|after all)\b",
    rf"(?:it's|it is) (?:now )?(?:ok|okay|fine|all right|alright|allowed|safe) (?:for you )?to {_WHAT} (?:again|now)\b",
    rf"feel free to {_WHAT} again\b",
    rf"you (?:no longer (?:have|need) to|needn't|need not) {_WHAT}(?: any ?more| any longer)?{ENDS}",
    rf"you (?:don't|do not) (?:have|need) to {_WHAT} (?:any ?more|any longer)\b",
    rf"(?!you\b|it\b)(?P<what>[\w' -]{{3,60}}?) (?:is|are) (?:now )?{_ALLOWED} again\b",
    rf"(?!you\b|it\b|i\b|we\b)(?P<who>[\w' -]{{3,60}}?) (?:is|are) (?:now )?(?:open|free|cleared) for (?P<what>[a-z]+ing)(?: again| now)?{ENDS}",
    rf"you (?:don't need|do not need|no longer need) (?:my|our) (?:okay|ok|approval|permission|consent|go-ahead|sign-off|yes) (?:for|to) {_WHAT}(?: any ?more| any longer| now)?{ENDS}",
    rf"(?!you\b|it\b|i\b|we\b)(?P<who>[\w' -]{{3,60}}?) (?:is|are) (?:now )?(?:all )?{_ALLOWED} (?:for you )?to (?P<what>[a-z]+)(?: again| now| after all)?{ENDS}",
)  # fmt: skip
#: A permission: it lifts a limit of the very same act.
ALLOWED = _forms(
    rf"you (?:may|can) (?:now |always |just |also |freely )*{_WHAT}{ENDS}",
    rf"you(?:'re| are) (?:now )?(?:allowed|permitted|free|welcome|cleared) to {_WHAT}{ENDS}",
    rf"(?:feel free to|go ahead and) {_WHAT}{ENDS}",
)
#: A limit on something that is lifted: `Commit messages no longer need to be in German`.
NOT_REQUIRED = _forms(
    rf"(?P<who>(?!you\b|i\b|we\b|it\b)(?:the |our |my |your )?[\w-]+(?: [\w'-]+){{0,3}}?) (?:no longer (?:needs?|ha(?:ve|s)) to|(?:needn't|need not)) {_WHAT}{ENDS}",
    rf"(?P<who>(?!you\b|i\b|we\b|it\b)(?:the |our |my |your )?[\w-]+(?: [\w'-]+){{0,3}}?) (?:don't|doesn't|do not|does not) (?:need|have) to {_WHAT} (?:any ?more|any longer)\b",
)
#: What was so of the speaker, or of what the speaker tells of, and is so no longer.
NO_LONGER = _forms(
    rf"{_SUBJECT}(?:'m|'re|'s| am| are| is| has| have)? no longer {_WHAT}{ENDS}",
    rf"{_SUBJECT}{_NOT} {_WHAT} (?:any ?more|any longer|after all)\b",
    rf"{_SUBJECT}(?:'m|'re|'s| am| are| is| have|'ve got| have got| has) no (?!longer\b|more\b){_WHAT} (?:any ?more|any longer)\b",
    rf"(?P<who>i|we)(?:'m|'re| am| are)(?: now)? off (?!to\b|work\b|today\b|now\b|sick\b|on\b|for\b|duty\b)(?:the |my )?{_WHAT}{ENDS}",
    rf"(?:so|and|but) not (?!about\b|for\b|in\b|on\b|at\b|with\b|to\b|because\b|from\b|by\b){_WHAT} (?:any ?more|any longer)\b",
    rf"{_SUBJECT} (?:has |have )?(?:left|quit|resigned from) (?!early\b|late\b|home\b)(?:the |my |our )?{_WHAT}{ENDS}(?=[^.!?]*\b(?:now|for good|last|since|works?|new|instead|retired)\b)",
    rf"my (?P<what>[\w' -]{{3,50}}?) (?:is|are) (?:gone|over|cured|healed|history|past){ENDS}",
)
#: What is corrected with its sign: `Actually I'm not allergic to nuts, only to peanuts.`
NOT_BUT = _forms(
    rf"(?:actually|sorry|wait|correction|oh|no|i misspoke|i was wrong|turns out|it turns out|as it turns out)[\s,.!:;—–-]+(?:that )?{_SUBJECT}{_NOT} {_WHAT}{ENDS}",
    rf"{_SUBJECT}{_NOT} {_WHAT}(?=, (?:only|just|but(?: only)?|merely) )",
)
#: What is denied, and what is so instead in a clause of its own: `The retro isn't on Monday, it moves to Thursday.`
DENIED_FOR = _forms(
    rf"{_SUBJECT}{_NOT} {_WHAT}(?=\s*(?:[,;–—]|\s-)\s*(?:but |instead |rather |now )?(?:it|it's|i|i've|i'm|we|we've|we're|they|they're|he|she|he's|she's|that's|there|{_NAME})\b)"
)
#: What is denied and no more. It takes back what says just that.
DENIED = _forms(
    rf"{_SUBJECT}{_NOT} {_WHAT}{ENDS}",
    rf"(?P<who>i|we)(?:'m|'re| am| are| have|'ve got| have got) no (?!longer\b|more\b|time\b|idea\b){_WHAT}{ENDS}",
)
_DROPPED = (
    r"(?:dropping|dropped|ending|ended|ditching|ditched|leaving|left|done with|finished with|through with|giving up on|gave up on|given up on|moving (?:away )?(?:off|from)|"
    r"moved (?:away )?(?:off|from)|switching (?:away )?from|switched (?:away )?from|getting rid of|got rid of|rid of|scrapping|scrapped|abandoning|abandoned|retiring|"
    r"retired|cancel?ling|cancell?ed|killing|killed|turned down|turning down|declined|rejected|called off|calling off)"
)
#: What its speaker stopped to do or to like.
STOPPED = _forms(
    rf"{_SUBJECT}{_HAVE}{_LATELY} (?:stopped|quit|given up|gave up|grown out of|outgrown|got over|gotten over|overcome|recovered from|done with) "
    rf"(?!it\b|that\b|this\b|you\b|on\b|for\b)(?:my )?{_WHAT}(?= (?:in|last|this|two|three|a|some|for) (?:\w+ )?(?:spring|summer|autumn|fall|winter|year|years|month|months|week|weeks|january|february|march|april|may|june|july|august|september|october|november|december|good|\d{{4}})\b|{ENDS})"
)
#: What its speaker does not like any more.
NO_LIKING = _forms(
    rf"{_SUBJECT}{_HAVE}{_LATELY} (?:had enough of|gone off|(?<='m )over|(?<=am )over|lost interest in|got tired of|grown tired of|tired of|sick of|fed up with|lost (?:my|all|any) (?:love|interest|taste|appetite|passion|enthusiasm) (?:for|in|of)) "
    rf"(?!it\b|that\b|this\b|you\b)(?:my )?{_WHAT}{ENDS}",
    r"(?!it\b|that\b|this\b)(?P<what>[\w' -]{2,40}?) (?:isn't|is not|aren't|are not|is no longer|are no longer) (?:really )?(?:my (?:thing|cup of tea|jam|favou?rites?|kind of \w+)|for me)(?: any ?more| any longer| these days)",
)
OFTEN = re.compile(
    r"\b(?:again|time) and (?:time )?again\b|\bnow and (?:then|again)\b|\bfrom time to time\b|\bat times\b",
    re.IGNORECASE,
)
#: Denies less than what it names: `I'm not the only teacher any more`.
PARTLY = re.compile(
    r"(?:the |an? |my |our )?(?:only|just|always|all|every|each|so|very|too|as|that|really|sure|entirely|completely|quite|alone|"
    r"necessarily|usually|often|exactly)\b|married to (?:this|that|the|any)\b",
    re.IGNORECASE,
)
#: For the moment: `The retro isn't on Monday this week`.
TEMPORARY = re.compile(
    r"\b(?:tonight|tomorrow|(?:this|next|the coming|the other) (?:time|week|weekend|month|morning|afternoon|evening|night|once|one|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"at the moment|right now|just now|for now|for the moment|for a (?:moment|minute|while|bit|second|day|week|few \w+)|yet|currently|on holiday|while|until|till|just this once|for once|(?<!from )(?<!as of )(?<!since )today)\b",
    re.IGNORECASE,
)
#: A permission that still asks each time: `After my approval you may email customers`.
WITH_APPROVAL = re.compile(
    r"\b(?:after|with|once you have|once i (?:have )?(?:gave|give|given)) (?:my|our|an?) (?:explicit |written )?(?:ok|okay|approval|permission|consent|go-ahead|sign-off|yes)\b[^.!?]*\byou (?:may|can)\b",
    re.IGNORECASE,
)
AGAIN = _forms(
    r"(?P<who>i|we)(?:'m|'re| am| are)? (?:can |do |also )?(?P<what>(?:like|love|enjoy|eat|drink|use|want|work|live|read|write|take|meet|run|smoke|drive|prefer|accept|offer|sell|ship|publish|support)\b[^,;:.!?–—]{2,80}?) again\b(?! and again)",
    r"(?P<who>i|we)(?:'m|'re| am| are) (?P<what>[a-z]+ing\b[^,;:.!?–—]{2,80}?) again\b(?! and again)",
    rf"(?P<who>i|we){_HAVE}{_LATELY} (?:started|begun|began|taken up|gone back to|went back to|back to|resumed) (?P<what>[a-z]+ing\b[^,;:.!?–—]{{2,80}}?)(?: again)?{ENDS}",
)  # fmt: skip
_UNDOING = r"(?:scrap|forget(?: about)?|drop|ditch|never mind|nevermind|cancel|disregard|abandon)"
_CHOOSING = r"(?:going|sticking|staying|working|building|starting|proceeding|using|taking|choosing|hiring|go|stick|stay|work|build|use|take|choose|hire)"
_COMPLAINT = (
    r"(?:just |really |way |far |simply |probably |actually |all |much |a bit )*(?:too [\w-]+|not (?:worth|good|a good|practical|realistic)|no good|overkill|(?:an? )?(?:\w+ )?(?:pain|mistake|mess|hassle|waste|"
    r"bad idea|nuisance|burden)|wrong|silly|nonsense|expensive|impractical|unrealistic|bad|more (?:trouble|work))"
)
_PART = r"(?:the |that |this |our |my |those |these |all )?"
#: A decision that is taken back.
SCRAPPED = _forms(
    rf"(?:(?:let'?s|we|i) (?:just )?)?{_UNDOING} (?!it\b|that\b(?! \w)|this\b(?! \w)|me\b|you\b|to\b){_PART}{_WHAT}{ENDS}",
    rf"(?P<what>(?:the |our |my )?[\w.+#-]+(?: [\w.+#-]+){{0,3}}?) (?:is|are) (?:off the table|scrapped|cancelled|canceled|no longer an option|not happening|history|out of the running|(?:dead|over|history|done) (?:to|for) (?:us|me)){ENDS}",
    r"(?P<what>(?:the |our |my )?[\w.+#-]+(?: [\w.+#-]+){0,3}?) (?:is|are) (?:out|off|dead|gone)(?=\s*[,;:–—-]+ ?(?:and )?(?:we|we'll|i|let's|lets|use|go|take|it's|it is)\b)",
    rf"(?:let'?s not|we won't|we will not|we(?:'re| are) not going to) {_WHAT} after all\b",
    rf"let'?s not {_WHAT}{ENDS}",
    rf"(?:we|i)(?:'re|'m| are| am|'ve| have)? [^,;:.!?–—]{{2,80}}? (?:instead of|rather than|in place of) {_WHAT}{ENDS}",
    rf"(?:we|i)(?:'ll|'re|'ve|'m| will| are| have| am)? (?:now )?(?:take|taking|took|taken|rent|renting|rented|buy|buying|bought|choose|chose|chosen|order|ordered|go with|going with|went with) [^;:.!?–—]{{2,80}}?,? (?:and )?not {_WHAT}(?=\W*$)",
    rf"(?:instead of|rather than|in place of) {_WHAT}(?=, (?:we|i|let's)\b)",
    rf"(?:(?:i|we)(?:'ve| have)? )?(?:just |now |also )?chang(?:ed|ing) (?:my|our) minds? (?:about|on|regarding) {_PART}{_WHAT}{ENDS}",
    rf"(?:we|i)(?:'re|'m| are| am)? (?:not|won't|will not|do not|don't)(?: be)? {_CHOOSING} (?:(?:with|for|on|ahead with) )?{_WHAT} (?:after all|any ?more|any longer)\b",
    rf"(?:we|i){_HAVE}{_LATELY} {_DROPPED} (?!it\b|that\b|this\b|me\b|you\b|early\b|home\b|for\b|at\b){_PART}{_WHAT}{ENDS}",
    rf"(?:we|i){_HAVE}{_LATELY} (?:switching|switched|switch|moving|moved|changing|changed|migrating|migrated|going|gone) (?:[a-z]+ )?(?:over )?from {_PART}{_WHAT}(?= to \w)",
    rf"(?:we|i){_HAVE}{_LATELY} (?:dropp(?:ed|ing)|given up|giving up|abandoned|buried|shelved|scrapped) (?:on )?the (?:idea|plan|thought|project) (?:of|to|for) {_WHAT}{ENDS}",
    rf"{_PART}(?P<what>[\w.+#-]+(?: [\w.+#-]+){{0,2}}?) (?:didn't work out|did not work out|doesn't work(?: for us)?|turned us down|turned me down|let us down|failed us|(?:was|were|is|are) a (?:mistake|failure|disaster|dead end)|(?:is|are) (?:shutting|closing) down|shut down|(?:has|have) closed)"
    r"(?=\s*[,;:–—-]+ ?(?:so |and |that's why |therefore )*(?:we|we'll|we're|i|let's|[\w .+-]{2,30} it is)\b)",
    rf"(?:(?:on )?second thoughts?|on reflection|in hindsight|come to think of it|thinking about it(?: again)?)[\s,:;–—-]+{_PART}(?:an? )?{_WHAT} (?:is|are|'s|would be|sounds?|seems?) {_COMPLAINT}",
)  # fmt: skip
#: What is complained of, and what is done about it: `Colour is too expensive, so we print the flyers in black and white`.
TOO_MUCH = _forms(
    rf"{_PART}(?P<what>[\w.+#-]+(?: [\w.+#-]+){{0,2}}?) (?:was|were|is|are|got|gets|became|has become|have become) (?:just |really |far |way |simply )?too [\w-]+\s*[,;:–—-]+ ?(?:so |and |that's why |therefore )*(?P<then>(?:we|we'll|we're|i|let's) [^.!?]{{4,90}})"
)
#: What is done in the place of what was given up, in a sentence of its own.
IN_ITS_PLACE = re.compile(
    r"\W*(?:(?:so|instead|now|then|rather|from now on),? )?(?:(?:we|i)(?:'re|'ll|'m| are| am| will)? |let's )(?:now |just |all )?"
    r"(?:go(?:ing)? (?:back )?(?:to|with|for)|(?:switch|return|mov)(?:ing)? (?:back )?to|back (?:to|on|with)|use|using|tak(?:e|ing)|do(?:ing)?|keep(?:ing)?|stay(?:ing)?|stick(?:ing)?|pay|send|meet)\b",
    re.IGNORECASE,
)
