"""Plain sentences that say something to keep without a word that announces it, and such that only look like it.

Lines as in planted_conversations.py, which reads them; those of the second half were not looked at while rules were
changed.
"""

from __future__ import annotations

PLAIN = r"""
fact | h: We moved to Almelo last weekend.
fact | h: We moved to Bristol with the kids in June.
fact | h: I moved in with my sister last month.
fact | h: My son turned four yesterday.
fact | h: I gave up smoking in March.
fact | h: I started a new job at the town library last week.
fact | h: Our flat is on the fourth floor, without a lift.
fact | h: I stopped eating meat two years ago.
dynamic | h: Answer me in simple English.
dynamic | h: Talk to me in Spanish.
dynamic | h: Write to me in short paragraphs.
dynamic | h: Explain things to me in everyday words.
dynamic | h: Please close every message with an open question.
dynamic | h: Begin each summary with the costs, then the dates.
dynamic | h: Please put the deadline in the first line of every mail.
dynamic | h: I'd rather you asked twice than guessed once.
dynamic | h: I'd rather you wrote too little than too much.
dynamic | h: From today, subject lines in English, without emojis.
dynamic | h: From now on meeting notes in French, one page at most.
dynamic | h: As of today, log entries in UTC, newest first.
dynamic | h: Branch names must be in lower case.
dynamic | h: Use double quotes, not single ones.
dynamic | h: All dates should be written as day, month, year.
dynamic | h: Commit messages must start with the ticket number.
dynamic | h: Test names have to be full sentences.
dynamic | h: Keep functions under forty lines.
dynamic | h: Don't use abbreviations in table names.
decision | h: The new shop will be built with Medusa, that is settled.
decision | h: We are not renewing the lease for the garage.
decision | h: We're not extending the contract with the cleaning firm.
decision | h: We agreed to talk every Tuesday at nine.
decision | h: We agreed to meet on the first Monday of every month.
decision | h: The app will be written in Kotlin, we decided that yesterday.
decision | h: The old intranet will be switched off in June.
decision | h: We won't order from Berger again.
decision | h: The conference is going to be in Porto, that's final.
correction | h: No, the shop opens at 09:30, not 09:00.
correction | h: No, the train leaves from platform 4, not 7.
correction | h: Sorry, the meeting room is 2.14, not 2.41.
boundary | h: Tag a release only after the smoke tests.
boundary | h: Flash the boards only with signed firmware.
boundary | h: Deploy only from the release branch.
"""
PLAIN_NEAR = r"""
fact | h: We moved to Slack last weekend.
fact | h: We moved to the next chapter yesterday.
fact | h: My phone turned itself off yesterday.
fact | h: I gave up on the puzzle after an hour.
fact | h: Our flat white was cold this morning.
fact | h: I stopped the server two minutes ago.
dynamic | h: Answer me in one word: is it done?
dynamic | h: Write to me tomorrow in the morning.
dynamic | h: Talk to me about Spain.
dynamic | h: Explain the second paragraph in simple words.
dynamic | h: Please close the message with my name.
dynamic | h: Begin the summary with the costs.
dynamic | h: I'd rather you came on Sunday than on Monday.
dynamic | h: I'd rather eat twice than cook once.
dynamic | h: From today's paper I learned nothing.
dynamic | h: You must be in the wrong file.
dynamic | h: The branch must be in the other repository.
dynamic | h: Dates should be in the shop next to the nuts.
dynamic | h: The messages must have been lost.
dynamic | h: Use the second door, not the first one.
dynamic | h: Keep going, forty lines are left.
decision | h: The shop will be full tomorrow.
decision | h: The bus will be late, that's for sure.
decision | h: We are not going to the beach today.
decision | h: We're not extending the table, are we?
decision | h: We agreed with everything he said about meetings.
decision | h: The book will be written in heaven, as they say.
decision | h: The light will be switched off in five minutes.
decision | h: We won't be home again before ten.
correction | h: No, not really, we were in the garden.
boundary | h: I only eat after the news.
boundary | h: They deploy only on Mondays over there.
"""
PLAIN_HELD_OUT = r"""
fact | h: We moved to Freiburg over Easter.
fact | h: My niece turned twelve on Sunday.
fact | h: I quit drinking last year.
fact | h: Our house has no garden.
dynamic | h: Reply to me in Dutch.
dynamic | h: Finish each answer with what is still open.
dynamic | h: I'd rather you interrupted me than waited.
dynamic | h: From today, file names in lower case, with dates in front.
dynamic | h: Variable names must be in English.
dynamic | h: Use metric units, not imperial ones.
decision | h: We are not renewing the Adobe licences.
decision | h: We agreed to have lunch every Friday at noon.
decision | h: The website will be hosted in Iceland, that's decided.
decision | h: The printer in the hall will be sold in spring.
correction | h: No, the course starts at 18:15, not 18:30.
boundary | h: Merge only after the tests have passed.
"""
PLAIN_HELD_OUT_NEAR = r"""
fact | h: We moved to Zoom yesterday evening.
fact | h: My laptop turned eight minutes of work into nothing.
dynamic | h: Reply to me in a minute.
dynamic | h: Finish the answer with a joke.
dynamic | h: I'd rather you told him than me.
dynamic | h: It must be in English class that I lost it.
dynamic | h: Use the stairs, not the lift.
decision | h: We are not renewing anything in this sentence.
decision | h: We agreed on nothing, as usual.
decision | h: The website will be slow, that's certain.
correction | h: No, the course was nice, not bad at all.
boundary | h: The cat eats only after nine.
"""
