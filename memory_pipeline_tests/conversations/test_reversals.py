"""What a human takes back in so many words, and what stands beside it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_pipeline.conversations.earlier import Earlier
from memory_pipeline.conversations.patterns import patterns_of
from memory_pipeline.records import Extraction
from memory_pipeline_tests.conversations.saying import START, read, talk


def over_days(*days: str) -> tuple[list[Extraction], dict[str, str]]:
    """What is extracted of one sentence a day; and by what was withdrawn, what withdrew it."""
    everything: list[Extraction] = []
    withdrawn: dict[str, str] = {}
    for number, words in enumerate(days):
        known = [one for one in everything if one.id not in withdrawn]
        result = read(talk(words, at=START + timedelta(days=number)), known=known)
        everything += result.extractions
        withdrawn |= result.withdrawn
    return everything, withdrawn


TAKEN_BACK = [
    ("You may restart the workers without asking me.", "You may no longer restart the workers without asking me.", "boundary"),
    ("You may restart the workers without asking me.", "You may not restart the workers without asking me any more.", "boundary"),
    ("You may restart the workers without asking me.", "You're no longer allowed to restart the workers.", "boundary"),
    ("You may restart the workers without asking me.", "Actually, you may not restart the workers without asking me.", "boundary"),
    ("You may restart the workers without asking me.", "From now on ask me before you restart the workers.", "boundary"),
    ("You may restart the workers without asking me.", "Stop restarting the workers without asking me.", "boundary"),
    ("You may restart the workers without asking me.", "Scrap that, you may not restart the workers without asking me.", "correction"),
    ("You may order supplies up to 100 euros without asking.", "You can't order supplies without asking any more.", "boundary"),
    ("You decide which supplier we take.", "You no longer decide which supplier we take.", "boundary"),
    ("Never push to main.", "You can push to main again.", "trust"),
    ("Never push to main.", "You may push to main without asking me.", "trust"),
    ("Never call me before nine.", "You can call me before nine again.", "trust"),
    ("Never push to main.", "It's fine to push to main again.", "trust"),
    ("Ask me before you restart the workers.", "You no longer need to ask me before restarting the workers.", "trust"),
    ("Keep your answers short from now on.", "You needn't keep your answers short any more.", "dynamic"),
    ("I've settled on two-week reminders instead of four-week ones.", "Scrap the two-week reminders, three weeks it is.", "correction"),
    ("From now on, deploy only from the release branch.", "Scrap the release branch rule, deploy from main.", "correction"),
    ("We decided to use Mongo.", "Mongo is out, we go with Postgres instead.", "decision"),
    ("We use Mongo for the orders.", "Mongo is out, we go with Postgres instead.", "decision"),
    ("We decided to use tabs.", "We are going with spaces instead of tabs.", "decision"),
    ("We decided to ship on Friday.", "Let's not ship on Friday, we ship on Wednesday.", "decision"),
    ("We decided to ship on Friday.", "We're not shipping on Friday after all.", "decision"),
    ("We decided to use Redis for the queue.", "Never mind Redis, RabbitMQ it is.", "decision"),
    ("I'm allergic to nuts.", "Actually I'm not allergic to nuts, only to peanuts.", "fact"),
    ("I'm vegan.", "I'm not vegan any more.", "fact"),
    ("I live in Utrecht.", "I no longer live in Utrecht.", "fact"),
    ("I like long explanations.", "I don't like long explanations any more.", "preference"),
    ("I don't eat meat.", "I eat meat again.", "preference"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "then", "kind"), TAKEN_BACK)
def test_what_is_taken_back_is_withdrawn_at_once(first: str, then: str, kind: str) -> None:
    everything, withdrawn = over_days(first, then)
    newest = next(one for one in everything if one.quote == then)
    assert newest.kind == kind
    assert {one.quote for one in everything if one.id in withdrawn} == {first}


IN_OTHER_WORDS = [
    ("I have two daughters.", "I don't have two daughters, I have three."),
    ("I'm a vegetarian.", "I eat meat again, so I'm no vegetarian any more."),
    ("I'm allergic to penicillin.", "Turns out I'm not allergic to penicillin, the doctor tested it."),
    ("The retro is on Monday.", "The retro isn't on Monday, it moves to Thursday."),
    ("My doctor is Dr. Brandt.", "My doctor isn't Dr. Brandt any longer, I changed to Dr. Okafor."),
    ("Anna is responsible for the payroll.", "Anna isn't responsible for the payroll any more, Jonas is."),
    ("We use Jenkins for the builds.", "Jenkins is dead to us, we use GitHub Actions now."),
    ("We decided to host the site with Hetzner.", "Changed my mind about Hetzner: we take OVH."),
    ("We decided to go with Vue.", "We're not going with Vue after all, React it is."),
    ("We decided to build the shop with Magento.", "We're dropping Magento, Shopware does the job."),
    ("We decided to launch in May.", "The launch in May is off, we launch in September."),
    ("We decided to pay Tom by the hour.", "Instead of paying Tom by the hour, we pay him a fixed fee now."),
    ("We decided to send invoices weekly.", "On second thought, weekly invoices are too much work. We go back to monthly."),
    ("Never email customers directly.", "From today you may email customers directly."),
    ("Never touch the billing tables.", "The billing tables are fine to touch again."),
    ("Ask me before you restart the router.", "You can restart the router whenever you like, no need to ask."),
    ("Always write the commit messages in German.", "Commit messages no longer need to be in German."),
    ("You're allowed to order office supplies up to 50 euros.", "I'm taking that back: don't order any office supplies without my okay."),
    ("You may answer the support mails on your own.", "I want to see every support mail before you answer it from now on."),
    ("You decide which photos go on the website.", "I'd like to choose the photos for the website myself again."),
    ("I love working late at night.", "I've stopped loving late nights, mornings are better."),
    ("I'm learning Spanish.", "I've given up learning Spanish."),
    ("I hate olives.", "I actually like olives now."),
    ("I prefer phone calls over mails.", "These days I'd rather get a mail than a phone call."),
    ("My daughter is five.", "My daughter turned six yesterday."),
    ("We have three cats.", "We only have two cats now, Mimi died in August."),
    ("I'm married.", "I'm divorced now."),
    ("Our rent is 900 euros a month.", "Our rent went up to 980 euros a month."),
    ("The deploy runs at 22:00.", "The deploy runs at 23:30 now."),
    ("The backups are kept for 30 days.", "The backups are kept for 90 days from now on, not 30."),
    ("I have a brother named Paul.", "Sorry, I have no brother named Paul, that's my cousin."),
    ("I'm left-handed.", "Actually I'm right-handed, I mixed that up."),
    ("I'm allergic to cats.", "My cat allergy is gone."),
    ("I'm afraid of flying.", "I've got over my fear of flying."),
    ("I don't eat dairy.", "I'm eating dairy again."),
    ("I hate video calls.", "I don't mind video calls any more."),
    ("I live in Antwerp.", "We've relocated to Bruges."),
    ("I'm vegan.", "I'm back to eating cheese, so not vegan any more."),
    ("I like jazz.", "I've gone off jazz."),
    ("I dislike mushrooms.", "I've started to like mushrooms."),
    ("I'm on a gluten-free diet.", "I'm off the gluten-free diet."),
    ("The choir rehearses on Wednesdays.", "Choir rehearsal is on Thursdays now."),
    ("Our supplier is Metro.", "We've switched suppliers from Metro to Transgourmet."),
    ("We decided to support Windows 10.", "We're ending support for Windows 10."),
    ("We decided to buy the blue van.", "We bought the white van instead of the blue one."),
    ("We decided to rent the small office.", "We'll take the big office after all, not the small one."),
    ("I love Indian food.", "Indian food isn't my thing any more."),
    ("I live in Tromsø.", "I don't live in Tromsø any more."),
    ("I'm 52.", "I'm 53 now."),
    ("I prefer e-mail to chat.", "I now prefer chat to e-mail."),
    ("Our cloud bill is 400 dollars a month.", "Our cloud bill is down to 250 dollars a month."),
    ("We decided to use Notion for the docs.", "Let's drop Notion, the docs live in the repo now."),
    ("We decided to take the offer from Delta.", "We turned down the offer from Delta after all."),
    ("I love working at night.", "I've lost my love for working at night."),
    ("I prefer meetings in the morning.", "I prefer meetings in the afternoon now."),
    ("My favourite editor is Vim.", "My favourite editor is Helix now."),
    ("Our wifi password is Sunflower22.", "We changed the wifi password, it's Tulip23 now."),
    ("The night shift begins at 21:00.", "As of Monday the night shift begins at 22:00."),
    ("We decided to print the flyers in colour.", "Colour is too expensive, so we print the flyers in black and white."),
    ("We decided to release every Friday.", "On reflection, releasing every Friday is too risky. We release on Tuesdays."),
    ("We decided to translate the site into Polish.", "The Polish translation is cancelled."),
    ("You decide on the layout.", "The layout is my decision from now on."),
    ("You're allowed to give discounts up to 10 percent.", "I take it back: no discounts without asking me."),
    ("Ask me before you change the prices.", "You don't need my okay for changing prices any more."),
    ("Never edit the contracts folder.", "The contracts folder is open for editing again."),
    ("Never share our roadmap with partners.", "As of now you may share our roadmap with partners."),
    ("I prefer window seats.", "I've come to prefer aisle seats."),
    ("The weekly sync is on Thursdays.", "We've moved the weekly sync to Tuesdays."),
    ("The trial ends on 3 May.", "The trial has been extended to 10 May."),
    ("My phone number is 0151 2233.", "My phone number has changed, it's 0160 9988."),
    ("We have two cars.", "We sold one of the cars, so we have one car now."),
    ("Lena is our accountant.", "Our accountant is Tim now."),
    ("We use tabs for indentation.", "We're switching from tabs to spaces."),
    ("We decided to use Terraform for the servers.", "Terraform didn't work out, we do it with Ansible now."),
    ("You can pay invoices under 200 euros on your own.", "I'd rather approve every invoice myself from now on."),
    ("You may publish blog posts without asking me.", "No more publishing blog posts without my say-so."),
    ("Always add emojis to the posts.", "No emojis in the posts any more."),
    ("Never message the tenants after eight.", "It's okay to message the tenants after eight now."),
]  # fmt: skip


@pytest.mark.parametrize(("first", "then"), IN_OTHER_WORDS)
def test_what_is_denied_changed_or_allowed_in_other_words_is_withdrawn(first: str, then: str) -> None:
    everything, withdrawn = over_days(first, then)
    assert {one.quote for one in everything if one.id in withdrawn} == {first}


def test_what_is_done_in_its_place_stands_beside_what_is_given_up() -> None:
    then = "On second thought, weekly invoices are too much work. We go back to monthly."
    everything, _ = over_days("We decided to send invoices weekly.", then)
    assert everything[-1].quote == then


OF_ANOTHER_SUBJECT = [
    ("You may restart the workers without asking me.", "You may no longer restart the database without asking me."),
    ("You may restart the workers without asking me.", "You may no longer restart the workers of the payroll without asking me."),
    ("You may restart the workers without asking me.", "Never restart the workers on Fridays."),
    ("You may send the weekly report without asking.", "Ask me before you send the yearly report."),
    ("I'm a teacher.", "I'm not the only teacher any more."),
    ("I don't drink coffee.", "I drink coffee again and again."),
    ("I work as a nurse.", "I don't work on Mondays any more."),
    ("We decided to keep the blog and the shop on one server.", "The blog is history, we keep the shop."),
    ("Never push to main on Fridays.", "You can push to main again."),
    ("Never push to main.", "You can push to the staging branch again."),
    ("Never run the tests on production.", "You can run the tests again."),
    ("I've settled on two-week reminders instead of four-week ones.", "Scrap the two-day reports, they help nobody."),
    ("We decided to use Mongo.", "Redis is out, we go with Postgres instead."),
    ("We decided to keep the Mongo dump for a year.", "Mongo is out, we go with Postgres instead."),
    ("We decided to use Postgres instead of Mongo.", "We are going with spaces instead of tabs."),
    ("We decided to ship on Friday.", "Let's not ship the beta on Friday, we ship it on Wednesday."),
    ("We decided to ship on Friday.", "Let's not talk about the shipping on Friday."),
    ("I'm allergic to nuts.", "Actually I'm not allergic to cats, only to dust."),
    ("I like long explanations.", "I don't like long meetings any more."),
    ("I don't eat meat.", "I don't eat meat any more."),
    ("I'm vegan.", "If I'm not vegan any more, I'll tell you."),
    ("I'm vegan.", "My sister says I'm not vegan any more."),
    ("I'm vegan.", "Is it true that I'm not vegan any more?"),
    ("Never push to main.", "a: You can push to main again."),
    ("I have two brothers.", "I don't have two hands free."),
    ("The retro is on Monday.", "The retro isn't on Monday this week, it's on Tuesday."),
    ("The retro is on Monday.", "The dentist isn't on Monday, it moves to Thursday."),
    ("My wife is allergic to nuts and pollen.", "I'm not allergic to nuts any more."),
    ("My daughter is five.", "My niece turned six yesterday."),
    ("My daughter is five.", "If my daughter turned six now, she would be in school."),
    ("We have three cats.", "We have two dogs now as well."),
    ("The deploy runs at 22:00.", "The cleaning runs at 23:30 now."),
    ("The deploy runs at 22:00.", "The deploy runs at 23:30 tonight, because of the move."),
    ("The deploy runs at 22:00.", "The deploy also runs at 23:30 now."),
    ("We decided to host the site with Strato.", "Changed my mind about the garden: we take gravel."),
    ("We decided to use Svelte for the frontend.", "We're not going with Svelte courses after all."),
    ("Never contact the suppliers directly.", "From today you may contact the translators directly."),
    ("Never push to main.", "You may push to main on Fridays."),
    ("You're allowed to book hotels up to 120 euros.", "Don't book any flights without my okay."),
    ("I hate olives.", "I actually like capers now."),
    ("I live in Graz.", "I no longer live in Kiel."),
    ("I live with my husband.", "We moved to Linz last weekend."),
    ("I live in Graz.", "I moved here from Ljubljana three years ago."),
    ("The alarm goes off at 6:30.", "The alarm goes off at 7:30 on Saturdays now."),
    ("I like tea.", "I've had enough of tea for today."),
    ("We decided to buy the blue van.", "We bought the white pen instead of the blue one."),
    ("We decided to support Windows 10.", "We're ending the call in 10 minutes."),
    ("The choir rehearses on Wednesdays.", "The band rehearses on Thursdays now."),
    ("I like working in the office.", "I don't like the light in the office these days."),
    ("I love working on Sundays.", "I've stopped working on Sundays."),
    ("I'm married.", "I'm not married to this plan."),
    ("We decided to open on Sundays.", "We're not opening the windows on Sundays."),
    ("We decided to open the office in Bonn.", "Bonn is too far, so I take the train today."),
    ("I work for the city council.", "I left the meeting, I work in the kitchen now."),
    ("I love working on Sundays.", "I don't work on Sundays these days."),
    ("I'm married.", "We got married in May."),
    ("Our server is in Frankfurt.", "Our backup server is in Paris now."),
    ("The meeting is on Monday.", "The meeting with the bank is on Tuesday now."),
    ("I prefer meetings in the morning.", "I prefer meetings in Bonn now."),
    ("I prefer tea to coffee in the morning.", "Tea over coffee, always."),
    ("So it's settled: we meet in Vienna.", "From now on meeting notes in French, one page at most."),
    ("My daughter is seven, not six.", "No, the train leaves from platform 4, not 7."),
    ("Lena is our accountant.", "Our gardener is Tim now."),
    ("Lena is our neighbour.", "Tim is our neighbour now."),
    ("The rent for the garage is 80 euros.", "The rent for the flat is 980 euros now."),
    ("You can pay invoices under 200 euros on your own.", "I'd rather pay the baker myself from now on."),
    ("I like long explanations.", "I've had enough of long winters."),
]  # fmt: skip


@pytest.mark.parametrize(("first", "then"), OF_ANOTHER_SUBJECT)
def test_what_is_said_of_another_subject_withdraws_nothing(first: str, then: str) -> None:
    everything, withdrawn = over_days(first, then)
    assert first in {one.quote for one in everything}
    assert not withdrawn


def test_what_a_model_calls_a_limit_takes_back_only_what_it_takes_back_in_words() -> None:
    ((allowed,), _) = over_days("You may restart the workers without asking me.")
    ((limit,), _) = over_days("Never restart the workers.")
    ((ended,), _) = over_days("You may no longer restart the workers.")
    assert Earlier([allowed]).withdrawn_by(limit) == (allowed.id,)
    assert Earlier([allowed]).withdrawn_by(limit, by_model=True) == ()
    assert Earlier([allowed]).withdrawn_by(ended, by_model=True) == (allowed.id,)


def test_a_permission_that_ends_is_a_limit_whatever_was_said_before() -> None:
    ((limit,), _) = over_days("You may no longer restart the workers without asking me.")
    assert limit.kind == "boundary"


def test_what_was_taken_back_can_be_given_again_and_taken_back_again() -> None:
    said = (
        "You may restart the workers without asking me.",
        "You may no longer restart the workers.",
        "You may restart the workers again without asking me.",
        "You may no longer restart the workers.",
    )
    everything, withdrawn = over_days(*said)
    assert [one.kind for one in everything] == ["trust", "boundary", "trust", "boundary"]
    assert set(withdrawn) == {one.id for one in everything[:3]}


def test_a_pattern_that_its_human_revokes_is_no_longer_the_pattern() -> None:
    everything, _ = over_days(
        "You may restart the workers without asking me.", "You may no longer restart the workers without asking me."
    )
    (pattern,) = patterns_of(everything)
    (seen,) = pattern.observed
    assert (pattern.kind, pattern.text) == ("boundary", "You may no longer restart the workers without asking me.")
    assert (seen.resolution, seen.updated) == ("revoked", pattern.text)
    assert pattern.score(START.date() + timedelta(days=1)) == 1.0


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I like long explanations.", "I don't like long flights any more."),
        ("You may approve refunds under 20 euros.", "Ask me before you approve the refunds policy text."),
        ("Never contact the suppliers directly.", "From today you may contact the translators directly."),
        ("You may merge pull requests without asking me.", "Stop asking me about the pull requests of the interns."),
        ("I love long walks.", "I hate long meetings."),
        ("I like Berlin.", "I don't like the airport in Berlin any more."),
        ("Answer me in German.", "Don't answer the phone in German."),
    ],
)
def test_what_is_said_of_another_thing_is_no_contradiction(first: str, then: str) -> None:
    everything, _ = over_days(first, then)
    assert len(everything) == 2
    assert [pattern.observed for pattern in patterns_of(everything)] == [[], []]
