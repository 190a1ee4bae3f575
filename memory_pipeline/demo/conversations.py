"""Conversations of the demo's humans with their agents, and what is worth keeping of each sentence.

A line is a turn: `u:` is the human, `a:` the agent. Behind a sentence stands, in braces, what is to be kept of it:
`{fact}`; `{fact/context}`, if either is right; `{fact+emotion}`, if both are. `{-fact}`: nothing, though it looks like a
fact. `{?fact}`: it may be kept as that or left out. Where nothing stands, there is nothing to keep. Conversations that are
`aside` are for measuring alone; the others stand in the workspace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memory_pipeline.records.conversation import Speaker

_TALKS = """
# webshop 2026-02-16 aside
u: Good morning, first week with you, so let me introduce myself. My name is Clara and I have run this shop since 2017. {fact} We started out on a market stall, long before there was a website. {-fact}
a: Nice to meet you, Clara. What should I know about the team?
u: It's a small crew. Jonas, my husband, takes the pictures. {fact} Sofie packs the parcels at the warehouse. {context} I'm in the shop from Tuesday to Saturday, Mondays belong to the kids. {fact}
a: Then I will keep Mondays quiet. Do you write the weekly reports yourself, or shall I? {-trust}
u: You write them. {?trust} Two paragraphs are plenty for me, with the figures at the top. {dynamic} In my last job the boss wanted ten pages every week. {-dynamic}
a: Understood. Would you like me to answer customers directly as well? {-trust}
u: Questions about sizes you can answer straight away, they don't have to cross my desk. {trust} Refunds above 50 euros always come to me before you reply. {boundary} If that works well I might hand over more. {-trust}

# webshop 2026-02-18 aside
u: Yesterday was a mess. Somebody at the carrier told Sofie that we had cancelled the pickup. {-decision}
a: I looked into it. The pickup was missing because the carrier's token had expired on Sunday. {context}
u: So it wasn't Sofie. I was really worried that we would have to have a hard talk. {emotion}
a: I should have looked at the token before I suspected the warehouse. {learning} Next time I check what expires first. {learning}
u: No harm done. New rule for us: tokens are renewed a month before they run out. {decision}
a: The dates are in the calendar. What else expires in spring, as far as you know? {-context}
u: No idea. My brother once let his domain lapse and lost it to some casino. {-fact}

# webshop 2026-02-20
u: I want to be clear: never send anything to the landlord without showing me first. {boundary}
a: Understood. I will show you every letter before it goes out.
u: No, that's wrong, the appointment is on Thursday and not on Wednesday. {correction}
a: Thank you for the correction, I have moved it to Thursday. {-correction}
u: You can decide about the restaurant yourself, I trust your choice. {trust}
a: Then I will take the quiet one near the river. {-decision}

# homelab 2026-02-21 aside
u: Hey, I finally have time for the rack this weekend. I live on the fourth floor without a lift, so everything heavy gets delivered. {fact}
a: Noted. Which part of the rack comes first?
u: The backups. We're keeping restic and dropping Borg, two tools for one job is one too many. {decision}
a: Should the old Borg archives be deleted once the first snapshots are through? {-decision}
u: Hands off the old archives, they hold the only copy of the wedding. {boundary} I'd be in tears if they got lost. {-emotion}
a: They stay where they are. The NAS has 1.4 TB free, which is enough for about nine months of snapshots. {?context}
u: Good. The backup key lies in the safe at my parents' house in Setubal. {context} You have my OK to start and stop the backup jobs whenever it suits you. {trust}
a: Thank you. A snapshot could run at 03:00, when the house sleeps. {-decision}
u: Could, yes. My wife works nights at the hospital, so she is awake at three, make it five in the morning. {fact}

# webshop 2026-02-24 aside
u: I talked to our accountant. Marta is the new one, she took over from Dana. {context} She thinks we should close the second bank account, I'm not sure yet. {-decision}
a: Shall I collect what runs over that account?
u: Please. And write in plain words when it's about taxes, I get lost in the jargon. {dynamic}
a: Will do. Two subscriptions and the insurance run over it. {?context}
u: We agreed with Marta to invoice in euros only, since the conversions cost her half a day every month. {decision} Her predecessor always insisted on pounds. {-decision}
a: Then I change the templates. Is the threshold for the small-business rule 25,000 euros? {-context}
u: It was 22,000 until last year, and I don't know the new one. {-context} Ask Marta. Please never send her scans of my passport, she doesn't need them. {boundary}

# homelab 2026-02-27 aside
u: The dashboard showed 41 degrees in the closet all night. Why on earth did nobody wake me? {-dynamic}
a: The alert went to the old address. I have corrected it in the alert settings.
u: That one is gone since January. When it gets above 38 degrees, ring me, whatever the hour. {dynamic/boundary}
a: Understood: above 38 degrees I call, at any time.
u: I get so nervous about fire, we had one in the house when I was a child. {emotion}
a: That is easy to understand. The rack draws 310 watts, so 38 degrees would already be unusual. {?context}
u: The closet has no window, and the fan behind the UPS is the only air it gets. {context} If the fan dies we are in trouble. {-context}
a: It turned out that the fan runs at half its speed since the firmware update. {context}
u: Then put it back to full speed. Actually, the noise bothers the neighbours, so full speed only above 30 degrees. {correction/decision/context}
a: Set: full speed above 30 degrees.

# webshop 2026-03-04
u: Important: the spring sale starts on 2026-03-20, not a day earlier, the supplier insists on it. {marker/context}
a: I have set the start of the spring sale to 2026-03-20 and removed the draft for the 18th.
u: How do the returns of the canvas sneakers look?
a: They make up 31% of all returns this month, mostly because of size 38. {?context}
u: Then put a note about the size on the page. You don't need to ask me for such things. {trust}

# homelab 2026-03-06 aside
u: Quick one before work. I switched jobs in February, I'm a database administrator at the port authority now. {fact}
a: Congratulations! Does that change when you want the reports?
u: Yes, send them at seven in the evening instead of at noon. {dynamic} My new boss hates phones at the desk. {-preference}
a: Moved to 19:00.
u: How would you store the sensor data, Influx or plain Postgres? {-decision}
a: You could stay with Postgres, because it is already backed up. {-decision}
u: Let's stay on Postgres then, I know it inside out and Influx I'd have to learn. {decision}
a: Then I drop the draft for Influx. One table per room would be an option. {-decision}
u: One table, with the room as a column, please. For the graphs I prefer Grafana, I look at it all day anyway. {preference}
a: Agreed. By the way, the humidity sensor in the bathroom reports 0 since Tuesday.
u: That's not the bathroom, that's the cellar, I swapped the two when I painted. {correction}
a: I had mixed up the two rooms, then: the dry one is the cellar. {correction}

# webshop 2026-03-09 aside
u: Jonas is ill, so no new pictures this week. {-fact} I'm completely exhausted, I hardly slept. {emotion}
a: I am sorry to hear that. Shall I move the launch of the blankets?
u: Yes, the blankets wait until the pictures are done. {?decision} What would help me most is if you sorted the inbox before I get up. {dynamic}
a: From tomorrow on it is sorted by six. Does urgent mean complaints only, or also press? {-context}
u: Complaints and anything from the bank. Press can wait, unless it's the radio. {-boundary}
a: Clear. The radio wrote once, in November. {-context}
u: Really? Nobody told me. {-correction} My mother listens to that station all day, by the way. {-preference} I myself can't stand the radio in the shop, it makes me nervous. {preference}
a: Then we will leave it off, so to speak. {-decision}
u: Ha. By the way, our blankets come from a mill in Covilhã, the only one that still dyes with plants. {context} Customers love that story. {-preference}

# homelab 2026-03-11 aside
u: I read your summary of the network plan. It's all numbers, I lose the thread. From now on start with one sentence on what I should do. {dynamic}
a: Understood. In one sentence: split the guests from the sensors this weekend. {-decision}
u: Much better. Agreed, split them, and do it on Sunday when nobody streams. {decision}
a: Sunday it is. Which name should the guest network get? {-fact}
u: Whatever you come up with is fine by me. {trust} Just keep our surname out of it. {boundary}
a: I decided on two separate VLANs, because the old switch cannot filter by address. {decision}
u: Fine. The tablet in the kitchen belongs to my daughter Ines, she is nine. {fact} She would love a network called Dragon. {-preference}
a: Dragon would be free.
u: Never mind the name, what about the printer? {-boundary}
a: The printer only speaks the old protocol, so it has to stay with the sensors. {?context}
u: Alright. My dad says printers are the devil's work. {-preference} I gave up on that thing years ago and print at the library. {?fact}

# webshop 2026-03-13 aside
u: The bank called about the card terminal. They say we have to replace it by summer. {-decision}
a: Do you want an offer from somebody else for comparison?
u: Don't sign anything there, I read every contract myself. {boundary} Two offers would be great, though. {-decision}
a: I will collect two. Tap-to-phone would be cheaper, if your tablets support it. {-decision}
u: Ours are from 2019, I doubt it. {-context} I'm so glad that we have you for this, it used to eat my evenings. {emotion}
a: Gladly. The terminal costs 19 euros a month at the moment, and the contract ends on 2026-06-30. {?context}
u: That cannot be right. We pay 29, I saw it on the statement. {correction}
a: You are right, 19 was the price of the first year. {?correction} I will read the latest statement before I quote a price again. {learning}

# homelab 2026-03-16 aside
u: My flight lands at eleven tonight. {-fact} Is everything quiet?
a: Everything is quiet. The door camera saw two parcels.
u: Great. For the record: the spare key is with Mrs. Duarte on the second floor, in case I'm stuck somewhere. {marker/context}
a: Noted, the spare key is with Mrs. Duarte. {-context}
u: I have type 2 diabetes, so if my phone is silent for a whole day, tell my wife. {fact+dynamic/fact+boundary/fact}
a: I will. Would twelve hours be too short? {-boundary}
u: Way too short, I sleep longer than that after a flight. {-fact} Twenty-four. Could you also imagine a picture without me in it? Pretend you are a travel guide and I live in Rome. {-fact}
a: As a guide I would say: start at the river, at dawn.
u: Haha. I enjoy the planning more than the trip, if I'm honest. {preference}
a: The guests of the flat left this in the book: "We love the terrace and we hate the stairs." {-preference}
u: Everybody hates the stairs. {-preference} My son loves them, he counts them. {-preference} He starts school in September. {fact}

# webshop 2026-03-16 aside
u: Can you polish this for the shop page? We are a family business from the north and I love honest cloth. {?preference}
a: Polished: honest cloth from a family in the north. {-preference}
u: Sounds like an advert for soap. What did you dislike about mine? {-preference}
a: Nothing, it was only long.
u: Keep this in mind: our customers are fifty and older, no slang. {marker/dynamic/context}
a: Understood, no slang. Do I have a free hand with the headlines? {-trust}
u: With the headlines, yes. For the body text show me a draft first. {boundary/dynamic}
a: I will. Who decided on the slogan? {-decision}
u: Jonas did, in 2018, and he was proud of it. {-decision} Frankly, I never liked it. {preference} Translate this for me: Ich liebe diesen Laden und ich wohne um die Ecke. {-preference}
a: "I love this shop and I live around the corner." {-fact}
u: Sweet. That was in the guest book. If I ever sell the shop, I'll frame it. {-decision}

# webshop 2026-03-18
u: The newsletter draft is too long. Keep it to three products from now on. {dynamic/decision/boundary}
a: Shortened to three products: the linen shirts, the wool blankets and the hiking socks.
u: Better. Please remember that I read drafts on the phone, so no wide tables. {marker/dynamic}
a: Noted: drafts without wide tables. {-dynamic}

# homelab 2026-03-20
u: I want to get rid of the cloud calendar. What are the options? {-decision}
a: Radicale or Nextcloud. Nextcloud does more, but it wants 2 GB of memory for itself. {?context}
u: We're going with Radicale instead of Nextcloud, since all I need is a calendar. {decision} My colleague decided on Nextcloud and regrets it. {-decision}
a: Then I set up Radicale on the small box. Shall it be reachable from outside? {-boundary}
u: Only through the VPN. Nothing in this house gets a port open to the internet. {boundary}
a: Clear. I chose port 5232 for it. {-decision}
u: I moved the small box to the shelf over the washing machine last week, it's quieter there. {context} That shelf shakes when the drum spins, so no spinning disks up there. {context/boundary}
a: Noted. The calendar of the school could be imported as well. {-decision}
u: Nice idea. I miss the old paper calendar of my grandmother, to be honest. {emotion} She wrote everything down in green ink. {-fact}
a: Green would be easy to do.
u: You really get me. We're a good team, you and I. {dynamic}

# webshop 2026-03-23 aside
u: The sale is live, orders come in by the minute! I'm over the moon. {emotion}
a: Congratulations! 64 orders in the first hour, of which 41 were linen shirts. {?context}
u: Wow. How many linen shirts do we have left? {-context}
a: 118. At this rate they are gone by Wednesday. {-context}
u: Then raise the price of the linen shirts to 39. The linen shirts are our best thing anyway. {repetition}
a: Done. I set the price to 39 in the shop and in the newsletter.
u: Too much, make it 36. {correction/decision} I don't want the regulars to feel cheated. {-boundary}
a: Changed to 36.
u: Thank you. Prices within ten percent are yours to move, as long as you tell me afterwards. {trust}
a: I will. Should I also move the prices of the blankets? {-trust}
u: No, Marta wants those fixed for the quarter. {context} Would it annoy you if I asked for an hourly figure? {-dynamic}
a: Not at all.

# homelab 2026-03-24
u: The power failed at 14:10, and everything came back except the NAS. Can you see why? {-context}
a: The root cause was the UPS: its battery is from 2018 and lasted eleven seconds. {context}
u: Eleven seconds, ouch. We decided two years ago to replace the battery and then forgot about it. {-decision}
a: A new battery costs 64 euros. Shall I order it? {-decision}
u: Order it. Up to 100 euros you can buy spare parts without asking me. {trust}
a: Ordered. It arrives on Thursday.
u: And please do not restart the NAS remotely, I want to stand next to it. {boundary} Last time it took my brother two hours to revive it. {-fact}
a: Understood, no remote restart of the NAS.
u: One thing that is vital: the NAS has to be shut down before the router, otherwise the mounts hang. {marker/context}
a: I have learned that a clean shutdown needs the order of the devices, so I will keep a list of it. {learning}
u: Good. Lesson for me: test the battery every January. {learning}

# webshop 2026-03-25
u: Marta asks whether we keep the receipts on paper. {-context} The law says ten years, she says. {-context}
a: They are scanned since 2022. Paper before that.
u: We stop keeping paper as of April, everything goes into the scan folder. {decision} I hate paper piles. {preference}
a: Then I will label the folder by year. Do you prefer the date or the supplier in front? {-preference}
u: The date. I always think in dates, not in names. {?fact}
a: I wrongly told you on Monday that the scans are backed up: they are not yet. {correction}
u: Please fix that today. I don't mind mistakes as long as you tell me right away. {dynamic}
a: I will always say so at once.
u: What did we pay for the scanner again? {-context}
a: 240 euros. I found that two of its rollers are worn, which is why pages jam. {context}

# homelab 2026-03-26
u: I'm planning the garden sensors for the garden beds. Nothing fancy.
a: How many beds are there?
u: Six. The garden faces south, the soil dries out by noon. {context}
a: Then two readings an hour should do. {-decision}
u: Scrap the two readings, take one every ten minutes, the valves react to it. {decision/correction} And for the garden I want moisture in percent, not in volts. {repetition+preference/dynamic/correction/context}
a: One reading every ten minutes, in percent.
u: I'm allergic to bees, so I'd rather not check the sensors by hand in summer. {fact}
a: I will watch them for you. If one falls silent, I could ask your neighbour. {-boundary}
u: Please leave the neighbour out of it, we don't get along. {boundary} He thinks I work for the secret service. {-fact}
a: Understood.
u: Ha, if I worked for them I'd have better sensors. {-fact}

# webshop 2026-03-27
u: Before the weekend: Marco leaves in April. He has been with us for six years, and I'm going to miss him. {emotion}
a: I am sorry. Who takes over the newsletter?
u: Sofie takes over the newsletter from him. {context/decision} She asked for it, so don't correct her style. {boundary}
a: Understood. I noticed that I tend to rewrite every sentence, I will only mark errors from now on. {learning}
u: Perfect. Forget what I said about the Friday slot, the newsletter goes out on Sundays now. {decision/correction/context}
a: Changed from Friday to Sunday, 18:00.
u: 18:00 is when people cook. We tried mornings once, and it was a disaster. {-decision}
a: 20:00 would be after dinner. {-decision}
u: Right, 20:00. You know what I like about you? {-preference} You never sulk. {dynamic}
a: Thank you.
u: Here is what the printer wrote to us:
"We have decided to raise all prices by 4% from May. I live in hope that you understand." {-decision}

# webshop 2026-03-28 aside
u: The linen supplier raised the prices. The linen supplier wrote this: from June all orders need 30% in advance. {?context}
a: That is about 2,100 euros more to pay in April. {?context}
u: Ouch. We've had trouble with the linen supplier before. Would another mill deliver the same cloth? {-context}
a: The mill in Guimaraes might, but I have not asked. {-context}
u: Ask them, but don't give them our volumes. {?boundary} Actually I'd like to see how the linen supplier reacts if we hesitate. {repetition} I'm scared of losing them, though. {emotion}
a: I will ask without naming volumes. Suppose they say yes, would you switch? {-decision}
u: Probably, but let me sleep on it. {-decision} Never say never. {-boundary} I don't trust promises on paper. {-trust}
a: Shall I trust the price list on their site? {-trust}
u: No, it's from last year. {-correction} Nothing is wrong with asking. {-correction}
a: I asked for the list of this year.
u: You always find a way. {?dynamic} Sorry for the short answers, I'm on the phone with my sister. {-fact} She says she has three kids and no time, either. {-fact}

# homelab 2026-03-29 aside
u: Summer time began last night. Did all the jobs run? {-context}
a: All but one: the job at 02:30 was skipped, since that time did not exist. {?context}
u: Classic. We schedule nothing between two and three in the morning any more. {decision}
a: Moved to 03:30. The problem was that cron follows the local clock. {context}
u: I told you in January that the boxes run on UTC. {correction}
a: You are right, I set the zone to Lisbon when I rebuilt the box. {?correction} I will list the clock of each box in the notes. {?learning}
u: No drama. Explain such things to me as if I had never seen a server, that helps. {dynamic}
a: Gladly. In short: one hour vanished, and a job lived in it.
u: Love it. My favourite explanation so far! {-preference}
a: Would you like the same for the battery? {-preference}
u: Later. I'm off to the sea with the kids, I so needed a day without screens. {?emotion}

# webshop 2026-03-31
u: Dana is away next week, so Marco approves the prices until she is back. {?context}
a: Understood, price changes go to Marco until Dana is back.
u: And again: three products in the newsletter, not five. {correction/dynamic}
a: Sorry, I have cut it back to three products.

# homelab 2026-03-31
u: I want to be clear: no updates of anything while I am travelling. {boundary/marker}
a: All automatic updates are paused until you tell me that you are back. {-decision}
u: The noise at night was the heat pump, not the server fan. You were wrong there. {correction}
a: Thank you, I have corrected the note about the noise. {-correction}
"""

_LABEL = re.compile(r"\s*\{([-?]?)([\w+/]+)\}")
_ROLES = {"u": "user", "a": "assistant"}
_SPEAKERS: dict[str, Speaker] = {"user": "human", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """Words of a turn, at most one of whose sentences is labelled: the last one.

    `ways`: the sets of kinds of which one is to be kept; `may_be`: kinds that may be kept or left out; `looks_like`:
    the kind that it is not, though it looks like it.
    """

    words: str
    ways: tuple[frozenset[str], ...] = ()
    may_be: frozenset[str] = frozenset()
    looks_like: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: the role that spoke, and its words."""

    role: Literal["user", "assistant"]
    parts: tuple[Labelled, ...]

    @property
    def words(self) -> str:
        """The turn as it is written."""
        return "".join(part.words for part in self.parts)

    @property
    def speaker(self) -> Speaker:
        """Whose words it is."""
        return _SPEAKERS[self.role]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of one day, and whether it stands in the workspace."""

    project: str
    day: str
    turns: tuple[Said, ...]
    in_workspace: bool


@cache
def conversations() -> tuple[Talk, ...]:
    """All conversations, by day; those of the last day are left for a later night."""
    talks = []
    for told in _TALKS.strip().split("\n\n"):
        head, *lines = told.split("\n")
        _, project, day, *aside = head.split()
        turns: list[tuple[str, str]] = []
        for line in lines:
            if line[:3] in ("u: ", "a: "):
                turns.append((_ROLES[line[0]], line[3:]))
            else:
                turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line}")
        talks.append(Talk(project, day, tuple(Said(role, _parts(words)) for role, words in turns), not aside))  # type: ignore[arg-type]
    return tuple(talks)


def _parts(words: str) -> tuple[Labelled, ...]:
    found, start = [], 0
    for match in _LABEL.finditer(words):
        said = words[start : match.start()]
        mark, ways = match[1], tuple(frozenset(way.split("+")) for way in match[2].split("/"))
        kinds = frozenset().union(*ways)
        if mark:
            found.append(
                Labelled(said, may_be=kinds if mark == "?" else frozenset(), looks_like="" if mark == "?" else match[2])
            )
        else:
            found.append(Labelled(said, ways))
        start = match.end()
    rest = words[start:]
    return (*found, Labelled(rest)) if rest.strip() else tuple(found)
