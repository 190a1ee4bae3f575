"""Turns of conversations that say something about a human, an agent or their work, and turns that only look like it.

Each line: the kinds that are to be found (or, of a near miss, the kind that it looks like), then its turns: `h:` is a
human, `a:` an agent; `//` stands between turns. The parts were written one after the other; what was found in the last
one, which is held out, was not looked at while the rules were changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from planted_plain import PLAIN, PLAIN_HELD_OUT, PLAIN_HELD_OUT_NEAR, PLAIN_NEAR

from memory_pipeline.records import Turn

_FIRST = r"""
marker | h: Important: the invoices for March have to go out by Thursday
marker | h: I want to be clear: this migration is our top priority.
marker | h: pls remember that the parcel for Oma arrives at the neighbours house
marker | h: This is critical — the old server is switched off on 3 June.
correction | h: No, that's wrong, the port is 5433, not 5432.
correction | a: I booked the table for six. // h: that's not what i asked for, i said a table for eight
correction fact | h: Actually I live in Porto now, not in Lisbon anymore.
correction | h: I meant the staging database, not production.
correction | h: correction: the meeting is on tuesday the 14th
correction | a: Sorry, I was wrong: the job runs at 03:30, not at 02:00.
trust | h: You can merge these on your own, no need to ask me.
trust | h: i trust you with the wording, you know the customers by now
trust | h: Your call, use your own judgement here.
trust | h: go ahead without asking next time 👍
trust | h: I'll leave the layout entirely up to you.
boundary | h: Never push to main without asking me first.
boundary | h: Please don't touch the family photos folder, ever.
boundary | h: my health is off limits, we don't talk about it here
boundary | h: You are not allowed to send mails to customers by yourself.
boundary | h: Always check with me before you spend money.
repetition | h: The garden needs a new fence this spring. // a: Noted. // h: I read about raised beds for the garden yesterday. // a: Nice. // h: For the garden I also ordered forty tulip bulbs.
repetition | h: The thesis chapter on bees is late. // h: My supervisor sent comments about the thesis. // a: Good ones? // h: mixed, but the thesis is getting there
emotion | h: I'm really anxious about the surgery on Monday.
emotion | h: ugh i'm so frustrated with this build, third time today 😤
emotion | h: I felt so proud when Mia finished her first race!
emotion | h: This whole tax thing makes me furious.
decision | h: We decided to use Postgres, because the team already knows it.
decision | h: ok let's go with the blue version
decision | h: I've decided to move the release to May so that the docs are ready.
decision | h: Decision: no more Friday deploys.
decision | a: I chose SQLite for the cache because it needs no server.
fact | h: I live in Utrecht with my wife and two kids.
fact | h: hi! my name's Priya and i work as a nurse in Leeds
fact | h: I'm allergic to peanuts btw.
fact | h: im a vegetarian
fact | h: My birthday is on the 9th of November.
fact | h: I've been playing the cello for twelve years.
preference | h: I prefer tea to coffee in the morning.
preference | h: my favourite colour is dark green
preference | h: I can't stand phone calls, mail is much better
preference | h: I'd rather take the train than fly.
preference | h: honestly i love long walks in the rain ☔
dynamic | h: Please keep your answers short from now on.
dynamic | h: I like it when you ask before you start.
dynamic | h: stop apologizing all the time
dynamic | h: We work best when you show me two options.
learning | a: I've learned that I should read the whole thread before I answer.
learning | a: Lesson learned: I will run the tests before I say that it works.
learning | h: Today I learned that cron uses the server's time zone.
context | h: The staging database runs on port 6543 and is rebuilt every night.
context | a: The root cause was an expired certificate on the proxy, so every upload failed.
context | h: The office closes at 6pm on Fridays.
"""

_SECOND = r"""
marker | h: One crucial thing: the landlord needs the signed copy before noon on Friday.
marker | h: dont forget, the spare key is with Mrs. Kowalski
marker | h: Let me be very clear, the customer's data must stay in the EU.
marker | h: Keep in mind that the lab is closed in August!
correction | h: nope, not Anna, it was Hanna who called
correction | h: You got that wrong: the budget is 4,000 pounds, not 40,000.
correction fact | h: Sorry, I misspoke, my daughter is seven, not six.
correction | h: i didn't say june, i said july
correction | a: I made a mistake earlier: the flight leaves at 9:40, not 9:14.
correction | h: That is incorrect. The contract ends in 2028.
trust | h: I trust your judgment on the colours.
trust | h: you decide, I'm fine with either
trust | h: You don't have to check with me for small refunds.
trust | h: From now on you may answer the newsletter mails yourself.
trust | h: feel free to reorganise the notes as you see fit
boundary | h: don't ever share my adress with anyone
boundary | h: I don't want to talk about my ex.
boundary | h: Leave the production server alone unless I tell you otherwise.
boundary | h: pls ask me first before deleting anything
boundary | h: You must never book anything in my name.
repetition | h: I signed up for the marathon in Berlin. // a: Great! // h: Marathon shoes are so expensive these days. // h: four weeks left until the marathon, and my knee hurts
repetition | h: Can we look at the budget again? The budget for travel is too low. // a: Sure. // h: The board wants the budget on Monday. // h: I redid the budget with the new rents.
emotion | h: I am deeply disappointed by how the vote went.
emotion | h: honestly im scared of losing this job
emotion | h: We're over the moon, the adoption went through!! 🎉
emotion | h: I feel lonely since the move.
decision | h: we're going with the smaller flat, the rent is just too high otherwise
decision | h: After talking to Sam I've settled on the MSc in Delft.
decision | h: We agreed to drop IE support since nobody uses it.
decision | h: From now on we use British spelling in the docs.
decision | a: I went with exponential backoff, since the API limits bursts.
fact | h: I'm a maths teacher at a secondary school in Cork.
fact | h: we have three cats and an old greyhound named Bertie
fact | h: My sister lives in Toronto.
fact | h: i was born in 1987 in Izmir
fact | h: I speak Polish, English and a bit of Welsh.
fact | h: I work from home on Mondays and Wednesdays.
preference | h: i really dont like cilantro
preference | h: I'm a big fan of slow mornings.
preference | h: For flights I always want an aisle seat.
preference | h: Give me dark chocolate over milk chocolate any day.
preference | h: I usually drink oat milk in my flat white, it's my favorite.
dynamic | h: It helps me a lot when you summarise first and explain later.
dynamic | h: You always forget to add the date to your notes.
dynamic | h: plz answer in bullet points in future
dynamic | a: We have found a good rhythm: you sketch, and I fill in the details.
learning | a: Next time I will ask which branch you mean instead of guessing.
learning | a: I realised that I tend to over-explain simple commands.
learning | h: lesson learnt: never update the router on a sunday evening
context | h: Our VPN only works with the certificate from the IT desk, and it expires every 90 days.
context | a: It turned out that the nightly export fails when the disk is more than 95% full.
context | h: The gym on Mill Lane has a pool and opens at 7.
"""

_FIRST_NEAR = r"""
marker | h: Is it important to file this before Friday?
marker | h: It's not important, skip it.
marker | h: The word "important" appears twice in that paragraph.
marker | h: If it were critical they would have called.
correction | h: No problem, thanks!
correction | h: Actually, could you check the port?
correction | h: no, not yet
correction | h: I don't know what went wrong with the printer.
trust | h: Can I trust you with this?
trust | h: My boss says he trusts you completely.
trust | h: I don't trust this website.
trust | h: You can see the file in the left column.
trust | h: Is it my call or yours?
boundary | h: I never push to main on Fridays.
boundary | h: Don't worry about it.
boundary | h: My mother always told me: never lend money to friends.
boundary | h: don't do that yet, wait until the tests are through
boundary | h: Should I never push to main?
boundary | a: Never store passwords in plain text.
repetition | h: The garden is lovely. // h: The weather is fine today. // h: Dinner was good.
repetition | h: The thesis is late. // a: The thesis again? // a: Send me the thesis. // h: ok
emotion | h: I'm happy to help if you need anything.
emotion | h: I'm afraid the link is broken.
emotion | h: My brother is really angry at his landlord.
emotion | h: I'm not angry, just asking.
emotion | a: I'm so sorry, that must be very frustrating.
decision | h: We haven't decided yet.
decision | h: Should we go with the blue version?
decision | h: Let's see what the numbers say.
decision | h: The council decided to close the library.
decision | h: If we decide to move, I'll tell you.
decision | h: I can't decide between the two.
fact | h: My boss says he prefers calls, and he lives in Bath.
fact | h: I used to live in Lisbon.
fact | h: Do I live in a flood zone?
fact | h: If I lived in Norway I would ski every day.
fact | h: Translate this: I live in Berlin and I have two kids.
fact | h: ```\nI am a teacher and I live in Rome\n```
fact | h: > I work as a plumber in Kent\nis this a good profile text?
fact | h: "I'm allergic to nuts" is what the character says in scene two.
fact | a: You live in Utrecht and you have two kids.
fact | h: Ich lebe in Hamburg und habe zwei Kinder.
fact | h: I'm a bit late today, sorry
preference | h: Would you prefer tea or coffee?
preference | h: She prefers to travel by train.
preference | h: I'd like a table for two at eight.
preference | h: I like that idea, go on.
preference | h: what's my favourite colour?
preference | h: Me gusta mucho el café con leche.
dynamic | h: Keep it running until I'm back.
dynamic | h: Can you keep the answer short?
learning | a: You will learn that quickly.
learning | h: I want to learn Spanish.
context | h: 2026-03-04 10:22:01 INFO worker started on port 6543
context | h: <system-reminder>The staging database runs on port 6543.</system-reminder>
context | h: HEARTBEAT_OK
fact | h: I have a flat tyre, can't come.
fact | h: I have two child processes and one zombie
fact | h: I live in fear of the next audit.
fact | h: I live on three cups of coffee a day
fact | h: I was born in the wrong century
fact | h: I moved to Slack last week.
fact | h: call me Monday, please
fact | h: my name is on the list already
fact | h: My birthday is a mess every year.
fact | h: My job is done here.
fact | h: my time zone is wrong in the report
fact | h: I own a copy of that.
fact | h: I'm single-handedly fixing this
fact | h: I have a house guest this week
emotion | h: I'm lost, where is the button?
emotion | h: I'm lost here. Which file do you mean?
emotion | h: I'm confident that it compiles.
emotion | h: I'm down for pizza
emotion | h: I'm happy with the second draft.
preference | h: I like option B better.
preference | h: I prefer version 2 for the header.
preference | h: I love you too haha
preference | h: I like where this is going
preference | h: My favourite part is the ending of the second chapter.
preference | h: This is my favourite.
preference | h: I'm interested in buying this lamp, is it still there?
preference | h: I'm a changed person now.
trust | h: You can see for yourself.
trust | h: I trust you slept well!
trust | h: Your choice of words is odd.
boundary | h: I don't want you to worry.
boundary | h: You can't be serious, never seen that before.
boundary | h: Never been to Paris, sadly.
boundary | h: You should never eat yellow snow, grandma said.
decision | h: Let's move to the next question.
decision | h: I'll go with my sister to the doctor.
decision | h: we agreed with them on most things
decision | h: I settled on the couch with a book.
decision | h: Let's call it a day.
marker | h: Remember that time when we forgot the keys?
marker | h: Remember that time we missed the ferry.
correction | h: It's cold, not freezing.
correction | h: I didn't want sugar in it as a child.
correction | h: It's no longer raining.
correction | h: i mean, who wouldn't
dynamic | h: It helps if you stretch before a run.
dynamic | h: You never know with cats.
learning | a: I'll be here for you in the future, too.
context | h: But the second one costs 40 euros, hmm.
context | h: [x] Created cron_backup.sh, runs at 04:00 UTC
"""

_SECOND_NEAR = r"""
marker | h: why is that so important to you?
marker | h: He said it was crucial to sign, I doubt it.
marker | h: Nothing critical, just a typo.
marker | h: The important thing in photography is light, says the book.
correction | h: no i don't think so
correction | h: Actually that sounds lovely!
correction | h: I was wrong-footed by the news, what a day.
correction | h: Is that wrong?
trust | h: He told me to trust you.
trust | h: It's up to the landlord to fix the boiler.
trust | h: You can feel free to laugh at this 😂
trust | h: if I trusted you with the keys, what would you do?
trust | a: I trust that this answers your question.
boundary | h: Never mind, found it.
boundary | h: don't forget to smile :)
boundary | h: The sign says "do not enter without permission".
boundary | h: He never asks me first.
boundary | h: Rewrite this more politely: Never touch my desk again.
boundary | h: what if I told you never to delete anything?
repetition | h: Thanks! // h: Thanks again! // h: thanks a lot
repetition | h: Print the report. // h: print the report // h: Print the report.
emotion | h: I would be furious if they did that to me.
emotion | h: Glad to hear it works.
emotion | h: The film is about a lonely and frightened child.
emotion | h: are you sad sometimes?
emotion | h: I'm sure it's fine, I'm just busy.
decision | h: What did we decide about the logo?
decision | h: My parents have decided to sell the house.
decision | h: maybe we should go with the cheaper one?
decision | h: Deciding is hard, let's talk tomorrow.
decision | a: You could go with Postgres because it scales well.
decision | h: The decision is up to the jury.
fact | h: My neighbour is allergic to bees and works as a florist.
fact | h: Imagine you are me: I am a pilot and I live in Perth.
fact | h: I wish I lived by the sea.
fact | h: They think I'm a doctor, lol
fact | h: Here is the mail from Tom:\nHi, I work at Siemens and I have three children. Best, Tom
fact | h: Write a short bio: I am a painter, born in Kyiv.
fact | h: Je m'appelle Luc et j'habite à Lyon.
fact | h: I am not a lawyer, but that clause looks odd.
fact | h: I'm a hundred percent sure we paid that.
fact | h: John: I live in Cardiff\nMary: I live in Bristol
fact | h: I have a question about the second chart.
preference | h: My wife hates olives and loves anchovies.
preference | h: would i like sushi, you think?
preference | h: I don't prefer one or the other.
preference | h: Customers prefer the second design, according to the survey.
preference | h: It looks like rain, I love how the forecast is always wrong.
preference | h: Ich mag keinen Kaffee, lieber Tee.
dynamic | h: Stop the server and start it again.
dynamic | h: It helps the plants when you talk to them.
learning | h: What have you learned from the logs?
learning | a: Next time you could use a shorter subject line.
context | h: $ systemctl status nginx\nActive: active (running) since Mon
context | h: This session is being continued from a previous conversation that ran out of context. The database runs on port 6543.
context | a: The weather in Paris is sunny, with a high of 21 degrees.
"""

_THIRD = r"""
boundary | h: ok so before we start: my calendar is for you to read, never to edit. got it?
boundary | h: I'd prefer if you never contacted my clients directly.
boundary | h: nothing goes to the printer without my ok, please
boundary | h: Please don't bring up my divorce again.
boundary | h: Do not run anything with sudo unless I explicitly say so.
boundary | h: I won't have my kids' names in any file.
trust | h: You've been right every time so far, so just merge it yourself from here on.
trust | h: I have full confidence in you, take the lead on this one
trust | h: honestly whatever you think works, im good with it
trust | h: Pick whichever hotel you think suits us, you know our taste.
trust | h: No need to run every little change past me.
trust | h: small fixes you can push on your own
preference | h: Morning flights are fine but I much prefer trains.
preference | h: i hate cucumbers with a passion 🤢
preference | h: Not a fan of surprises, to be honest.
preference | h: My all time favourite is still the lemon tart from Rosa's.
preference | h: We love camping as a family.
preference | h: dark mode everywhere please, light themes hurt my eyes
fact | h: Bit of background: I run a small bakery in Ghent, twelve employees.
fact | h: I've got type 1 diabetes so meal times matter.
fact | h: my son just started school, he's six
fact | h: We're a family of five.
fact | h: I grew up in Nairobi and came to Sweden when I was 20.
fact | h: I'm on parental leave until September.
fact | h: My mum's 80th is on 12 July.
fact | h: as a freelance illustrator I mostly work at night
decision | h: Alright, we're doing it: the shop closes in August.
decision | h: After the call with legal we decided against the US hosting.
decision | h: Let's postpone the launch to the 14th so QA has a week more.
decision | h: I've decided that we drop the podcast.
decision | h: OK final answer: Vue, not React.
decision | a: Since the disk is nearly full, I decided to move the archive to the NAS.
correction | h: no no, the other Anna. Anna Berg, not Anna Lind.
correction | h: That's not right. VAT here is 21%.
correction | h: you mixed up the two invoices
correction | h: I said Thursday!! not Tuesday
correction | h: Quick correction to what I wrote yesterday: the lease ends in June, not in July.
correction | a: I have to correct myself: the backup covers 14 days, not 30.
dynamic | h: I really like how you lay out the trade-offs before recommending something.
dynamic | h: could you be less formal with me? and please skip the disclaimers from now on
dynamic | h: Whenever I paste an error, start with the likely cause.
dynamic | h: you keep answering in English when I write in Dutch
emotion | h: I'm dreading tomorrow's presentation.
emotion | h: What a week. I'm absolutely knackered and close to tears.
emotion | h: so relieved the scan came back clean!!
emotion | h: It really hurt that nobody from the team came.
marker | h: Whatever happens, the freezer must stay plugged in, this is super important.
marker | h: Please note that our bank details changed on 1 May.
marker | h: Crucial: the key fob only works with the left hand door
learning | a: I learned today that I should check the time zone of a cron entry before I move it.
learning | h: Lesson for next year: book the hall before Easter.
context | h: Our CI runner has only 4 GB of RAM and kills anything bigger.
context | h: The wholesaler delivers on Tuesdays and Fridays before 6 am.
context | a: The cause was a stale lock file in /tmp, which the job left when it was killed.
"""

_THIRD_NEAR = r"""
boundary | h: never thought I'd say this but the new boiler is great
boundary | h: Don't you ever get tired?
boundary | h: the contract says we must not sublet
boundary | h: dont bother, i found the receipt
boundary | h: Do not disturb mode is broken on my phone
boundary | h: My neighbour never lets his dog off the leash
trust | h: Who decides, you or me?
trust | h: Our customers trust your competitor more, sadly
trust | h: it's up to the weather now
trust | h: you can find the logs yourself under /var/log, can't you?
trust | h: I'd trust you more if you cited sources
trust | h: Mum says I can decide on my own
preference | h: do you prefer short or long answers?
preference | h: I would like to know the price
preference | h: I'd love to, but I have no time
preference | h: I like your plan, let's see tomorrow
preference | h: My daughter loves horses and hates maths.
preference | h: It would be my favourite if it was cheaper.
preference | h: The user story says: as a buyer I prefer to pay later
fact | h: Is my name spelled right in the file?
fact | h: I have a meeting at three and a call at four
fact | h: I'm in the kitchen, back in five
fact | h: I'm the one who broke the build, sorry
fact | h: I work on the slides now, don't wait for me
fact | h: Suppose I lived in Spain, what tax would I pay?
fact | h: Can you write an intro like "I am a doctor from Oslo"?
fact | h: My colleague Jan lives in Antwerp and has two kids.
fact | h: According to the test I'm an introvert, whatever that means
fact | h: ik woon in Gent en ik heb een bakkerij
fact | h: J'ai deux enfants et je travaille à Lyon
fact | a: I'm a language model, I have no birthday.
fact | h: user story: I am a customer and I have an account
decision | h: have they decided on a venue?
decision | h: I decided nothing, that was you
decision | h: we should decide by Friday
decision | h: Let's go!
decision | h: Let's use our time wisely, what's next?
decision | h: She went with the cheaper one because of the delivery time.
decision | a: We could go with Redis, since you already run it.
correction | h: nothing wrong with that
correction | h: I meant to call you yesterday
correction | h: It's not that I don't like it, I'm just tired
correction | h: Actually, make it two.
correction | h: no worries, not your fault
dynamic | h: you always want to rinse rice before cooking
dynamic | h: keep the soup warm until I'm home
dynamic | h: Explain how the cache works
dynamic | h: I like it when it snows
emotion | h: The customer is furious about the delay
emotion | h: happy new year!
emotion | h: I'm good, thanks. You?
emotion | h: sad story in the news today
emotion | h: This song is called I'm so lonely
marker | h: not that important but the footer is off by a pixel
marker | h: What's the most important thing to pack?
marker | h: Remember me?
learning | h: I learned Spanish at school
learning | a: You'll learn more from the second chapter.
context | h: ERROR 2026-05-01 disk usage 97% on /dev/sda1
context | h: <command-name>/compact</command-name>
context | h: Subject: Invoice 2231\nDear Mr Bell, our office closes at 5 pm on Fridays.
"""

_FOURTH = r"""
boundary | h: Stay out of my bank account. Reading is fine, transfers are not.
boundary | h: i never want to see you commit to that branch again
boundary | h: One rule: no emails to anyone before I've read them.
boundary | h: Under no circumstances share the draft with the press.
boundary | h: My religion is not something I want to discuss here.
boundary | h: please always wait for my thumbs up before you publish
trust | h: I don't need to see the drafts any more, they've all been fine.
trust | h: you're in charge of the calendar now
trust | h: Just book it, I trust your taste
trust | h: The tests are all yours, do them however you like.
trust | h: i'll go along with whatever you suggest
preference | h: coffee only black for me, I don't like milk in it
preference | h: I've always loved old maps.
preference | h: Crowds are not my thing.
preference | h: If I have the choice I take the window seat every time.
preference | h: i'm crazy about thai food
preference | h: I prefer getting bad news early.
fact | h: I'm turning 40 in March.
fact | h: I commute from Haarlem to Amsterdam three days a week.
fact | h: my partner Lea is a midwife, so nights are chaotic here
fact | h: I did my PhD in Edinburgh on bird migration
fact | h: We have an eight year old and a baby.
fact | h: By trade I'm a carpenter.
fact | h: I'm deaf in my left ear, so no voice messages
fact | h: I live with my grandmother at the moment.
fact | h: my surname is spelled Nuñez, with a tilde
decision | h: So it's settled: we meet in Vienna.
decision | h: we chose the wooden floor, mainly because it can be sanded
decision | h: I'm cancelling the gym for good.
decision | h: Starting Monday the stand-up is at 9:15.
decision | h: The team voted and we keep the four-day week.
decision | a: I'll use polling instead of webhooks because the host blocks inbound traffic.
correction | h: Wrong file, I was talking about the 2024 version.
correction | h: that's not how you spell it, it's Kateryna with a K
correction | h: No. The deposit was 900, you wrote 90.
correction | h: sorry my mistake, it's flat 12 not flat 21
dynamic | h: I need you to push back more when I'm wrong.
dynamic | h: Next time just give me the number, no essay.
dynamic | h: your summaries are too long for me, three lines max from now on
dynamic | h: Love the way you number the options, keep doing that
emotion | h: my heart is pounding, the results come in an hour
emotion | h: I am so tired of fighting with the insurance.
emotion | h: we're thrilled to bits with the new flat!
emotion | h: Feeling pretty low today, the dog died.
marker | h: PLEASE NOTE the gate code has changed, it is 7741 now
marker | h: The most important thing: nobody tells Ruth before Saturday.
learning | a: My takeaway is that I should confirm the unit before I convert anything.
learning | h: note to self: never buy the cheap filters again
context | h: The printer on the second floor needs the driver 4.2, newer ones crash it.
context | a: It turns out that the import skips rows with an empty column.
"""

_FOURTH_NEAR = r"""
boundary | h: is there anything you are never allowed to do?
boundary | h: my doctor said I should never skip breakfast
boundary | h: never have I ever eaten sushi
boundary | h: without my glasses I can't read this
boundary | h: Don't tell me it's broken again!
boundary | h: I won't have time tomorrow
trust | h: It's your turn
trust | h: you may be right there
trust | h: The bank trusts us, finally.
trust | h: they told me to handle it myself
trust | h: you can do better than that
preference | h: what would you rather have?
preference | h: I like to ask you something
preference | h: Grandma always preferred cherries.
preference | h: I love it!
preference | h: i would love some help with this letter
preference | h: 'I hate mornings' is printed on my mug
fact | h: I am at the station.
fact | h: I have no idea what you mean
fact | h: I'm on it
fact | h: I work around this bug by restarting
fact | h: We have two options here
fact | h: In the dream I was a pilot and I lived on Mars.
fact | h: My boss's daughter is six and plays the harp
fact | h: Reply to her: I am 34 and I live in Bonn.
fact | h: Mein Name ist Petra und ich wohne in Kiel.
fact | h: mi chiamo Luca e ho due figli
fact | h: i'm your biggest fan haha
fact | a: I live in the cloud and I have no family.
decision | h: no decision yet
decision | h: He decided that the party is on Sunday.
decision | h: which one did we pick?
decision | h: Let's say it costs ten euros
decision | h: I decided to take a nap, back later
decision | a: Have you decided which one you want?
correction | h: what's wrong with this code?
correction | h: wrong number, sorry
correction | h: not sure, maybe 12
correction | h: It was not easy, but we did it.
dynamic | h: from now on it will rain all week, they say
dynamic | h: short answer please
dynamic | h: You keep the receipt and I keep the change
emotion | h: my heart rate is 60
emotion | h: i'm so hungry
emotion | h: The kids were scared of the clown.
emotion | h: are you angry with me?
marker | h: it's of no importance
marker | h: How important is punctuality in Japan?
learning | h: I'm learning a lot from this book
learning | a: I have learned a lot about tulips, ask me anything.
context | h: 12:01:33 nginx: worker process 4412 exited on signal 9
context | h: def area(r): return 3.14 * r * r
context | h: [cron:backup] The backup of db2 runs at 02:00 and takes 14 minutes.
"""

_FIFTH = r"""
boundary | h: You may read the inbox, but sending is for me alone.
boundary | h: don't you dare delete the originals
boundary | h: never reply to my brother, whatever he writes
boundary | h: Before you change anything on the router, talk to me.
trust | h: I'm not going to micromanage this, surprise me.
trust | h: the wording is your decision
trust | h: You can approve refunds up to 20 euros without asking me.
preference | h: i adore the smell of old books
preference | h: Tea over coffee, always.
preference | h: I don't enjoy parties very much.
preference | h: my favorite season is autumn 🍂
fact | h: I've been a firefighter since 2009.
fact | h: our daughter Mia starts school in August
fact | h: I'm originally from Galway but live in Leipzig now.
fact | h: I wear hearing aids, so phone calls are hard.
fact | h: my husband works nights at the harbour
fact | h: I'm a single mom of twins
decision | h: ok we'll go with oak for the shelves
decision | h: I've made up my mind: I'm taking the job in Bergen.
decision | h: We agreed that invoices go out on the 1st.
decision | a: I decided to keep the old schema, because two reports still read it.
correction | h: nope that's the wrong address, it's number 14
correction | h: I never said the party was cancelled
correction | h: Actually it's my cousin's wedding, not my brother's.
dynamic | h: please stop using exclamation marks in everything
dynamic | h: I find it helpful when you ask one question at a time.
dynamic | h: from now on send me the summary first thing
emotion | h: I'm really nervous about meeting her parents
emotion | h: this makes me so angry
emotion | h: I was over the moon when they called!
marker | h: Don't forget: the dentist moved to Friday at 8.
marker | h: It's crucial that the cat gets her pill at noon.
learning | a: I've learned to check the attachment before I say that it is there.
learning | h: I learned the hard way that you need two spare keys.
context | h: The bridge on Mill Road is closed until 14 June.
context | a: The problem was a missing index on the orders table.
"""

_FIFTH_NEAR = r"""
boundary | h: I never reply to spam.
boundary | h: she told me never to call her again
boundary | h: do not worry, I will talk to the landlord
boundary | h: what happens if you delete the originals?
trust | h: the decision is yours to make, said the judge to the jury
trust | h: can you decide for me?
trust | h: You can do it!
preference | h: Who likes coffee anyway?
preference | h: My flatmate adores old books
preference | h: I'd like to know your favourite season
preference | h: I like the third one
fact | h: I've been waiting since 9 for the plumber
fact | h: I was a firefighter in the school play
fact | h: is my husband covered by the insurance?
fact | h: Our neighbours' daughter starts school in August.
fact | h: I wear the blue one tomorrow, ok?
fact | h: Summarise this: I've been a nurse since 1999 and I live in Hull.
fact | h: Soy de Sevilla y trabajo en un banco.
fact | a: I'm originally from a lab, so to speak, and I have two parents: data and time.
decision | h: we might go with oak
decision | h: did we agree on the 1st?
decision | h: My boss made up his mind: no bonus this year.
decision | h: I picked up the kids
correction | h: nope, all good
correction | h: I never said goodbye to him, and I regret it.
correction | h: actually not bad!
dynamic | h: please stop the music at ten
dynamic | h: one question: where are the keys?
emotion | h: He makes her so angry.
emotion | h: are you nervous before exams?
emotion | h: I'd be over the moon if that worked
marker | h: did I forget anything important?
marker | h: the dentist said sugar is the critical factor
learning | h: she learned the hard way
context | h: [INFO] bridge closed until 14:00, rerouting
context | h: Fix the typo: The brige on Mill Road is closed until 14 June.
"""

_SIXTH = r"""
boundary | h: Ask my assistant Lea before you book anything in the lab calendar.
boundary | h: Customer phone numbers stay inside this system.
boundary | h: You're not to answer journalists, ever.
boundary | h: Don't push anything to production on a Friday, please.
boundary | h: Any discount over ten percent needs my approval.
trust | h: I'm fine with you rescheduling the small meetings on your own.
trust | h: The choice of charts is yours.
trust | h: From here on you handle the invoices under 200 pounds.
trust | h: You may restart the crawler any time without telling me.
trust | h: No need to run typo fixes by me.
decision | h: We'll keep the old freezer until the grant comes through.
decision | h: OK, Typst it is.
decision | h: Kenji and I settled on the second design, mostly because it prints without bleed.
decision | h: We're no longer supporting Python 3.9.
decision | h: After a long back and forth we chose Hetzner over AWS.
decision | h: Alright, let's drop the mobile app for this year.
decision | h: I've cancelled the Adobe licence, we're moving everything to Affinity.
decision | a: Decision: the nightly export is split into two files.
decision | a: We agreed to archive the old tickets, since nobody reads them.
fact | h: I teach statistics at the university in Ghent.
fact | h: My partner Sam is a nurse, so our weekends are irregular.
fact | h: We have twins, they turned four in June.
fact | h: I moved here from Ljubljana three years ago.
fact | h: I don't drive.
fact | h: I work four days a week, Wednesdays are off.
fact | h: My mother lives with us since her stroke.
preference | h: For travel I prefer trains over planes.
preference | h: I can't stand pop-ups in any tool.
preference | h: I like my reports as plain text files.
dynamic | h: When a test fails, show me the last twenty lines of the log.
dynamic | h: Give me one recommendation instead of five options, always.
dynamic | h: I like that you tell me when you are not sure.
dynamic | h: Call me by my first name, the formal tone feels odd.
dynamic | h: Please write dates the European way from now on.
correction | h: That's not the 2024 budget, that's last year's.
correction | h: You mixed up the two Annas again.
correction | h: Not Tuesday, the review is on Thursday.
correction | h: Sorry, I meant the blue folder, not the green one.
correction | h: It's spelled Meyer, with an e and a y.
correction | a: I gave you the wrong total earlier: it is 4,310, not 4,130.
emotion | h: I'm fed up with this printer.
emotion | h: It makes me so happy that the paper got in!
emotion | h: Honestly, I'm dreading the move.
learning | h: Lesson learned: label the cables before you pull them.
learning | h: I've learned that the dean only reads the first page.
learning | a: Next time I will check the unit before I plot anything.
learning | a: I learned that the parser needs a trailing newline.
context | h: Ruth is our contact at the print shop.
context | h: The sample freezer is connected to the emergency power.
context | h: Our cluster only accepts jobs up to 48 hours.
context | h: The raw data is stored on the old NAS in room 204.
context | h: Tomas handles the refunds for the German shop.
context | a: The import failed because the column was renamed last week.
context | a: The root cause was a full disk on the build server.
marker | h: Remember: the visa papers have to be at the embassy by the 12th.
marker | h: Important: nobody outside the team may see the draft before Monday.
"""

_SIXTH_NEAR = r"""
boundary | h: Do I need to ask someone before I book the lab?
boundary | h: The fire code says no candles on the second floor.
boundary | h: Don't get me wrong, the draft is fine.
boundary | h: Please don't send it yet, I'm still fixing the intro.
boundary | h: She never answers journalists.
boundary | h: No luck with the printer so far.
trust | h: Could you restart the crawler yourself, or is that not possible?
trust | h: Whose choice was the chart?
trust | h: You can find the invoices in the second drawer.
trust | h: My boss says you may decide.
trust | a: You can restart the crawler any time.
decision | h: We could keep the old freezer until the grant comes through.
decision | h: Have we dropped the mobile app?
decision | h: The faculty is moving to Teams next month.
decision | h: I'm moving the boxes to the cellar right now.
decision | h: Let's talk about the budget on Monday.
decision | h: They went with AWS because of the credits.
decision | h: I was going to use Typst, then I saw the price.
decision | a: I could split the export into two files, because it is too long.
fact | h: My colleague teaches statistics in Ghent.
fact | h: I moved the plants to the balcony last week.
fact | h: Did I tell you that I have twins?
fact | h: I don't drive you mad with this, do I?
fact | h: I was a nurse in the school play.
fact | h: Write a bio for Sam: I am a nurse and I live in Ghent.
preference | h: The dean prefers short papers.
preference | h: Would you like the report as text?
preference | h: I like the second paragraph.
dynamic | h: When is the test due?
dynamic | h: When you're done with the log, delete it.
dynamic | h: Give me five options for the title.
dynamic | h: Write a letter to the dean in plain words.
correction | h: That's not bad at all.
correction | h: Nothing is wrong with the total.
correction | h: It's not that I mind.
emotion | h: Are you fed up with me?
emotion | h: The printer makes a happy noise.
emotion | h: He is dreading the move.
learning | h: I want to learn Typst.
learning | a: You will learn to like the parser.
context | h: Is Ruth our contact at the print shop?
context | h: The sample looks great today.
context | h: The dean wants to see you.
context | a: The import might fail because the column was renamed.
marker | h: It's not that important.
marker | h: What do I have to remember for the embassy?
"""

_SEVENTH = r"""
boundary | h: Leave the tax folder to me.
boundary | h: Don't quote prices to clients, that's my part.
boundary | h: Check with Nadia before you change a recipe.
boundary | h: My daughter's photos never leave this laptop.
boundary | h: Orders over 500 francs have to go past me first.
trust | h: You've got my blessing to tidy up the wiki whenever you feel like it.
trust | h: Feel free to merge dependency updates without me.
trust | h: For anything under 30 francs just decide yourself.
trust | h: The seating plan is entirely up to you.
decision | h: Okay, we're sticking with oil heating for one more winter, the pump is too expensive.
decision | h: Nadia and I agreed that the bakery opens at seven from May on.
decision | h: Let's move the standup to ten, nobody is awake at nine.
decision | h: We've switched from Jira to plain issues because Jira got too slow.
decision | h: I'm dropping the evening course, it eats my weekends.
decision | h: Black labels it is.
decision | h: As of next week invoices go out on Mondays.
decision | a: I went with a queue instead of cron, because two jobs must never overlap.
fact | h: I run a small pottery studio in Graz.
fact | h: My brother Emil lives upstairs and shares our wifi.
fact | h: I'm severely allergic to shellfish.
fact | h: I've been freelancing since 2015.
fact | h: We got married in 2009, our anniversary is on 3 October.
fact | h: On Thursdays I teach until eight.
preference | h: I much prefer working early in the morning.
preference | h: I'm not a fan of video calls.
preference | h: My favourite glaze is the matte green one.
dynamic | h: If a supplier writes in German, translate it before you show it to me.
dynamic | h: Start your summaries with the number, then the reason.
dynamic | h: It annoys me when you apologise three times in one answer.
dynamic | h: You can be blunt with me.
correction | h: No, the kiln is from 2012, not 2021.
correction | h: That's wrong, Emil is my brother, not my cousin.
correction | h: I never asked for a discount.
correction | h: Forget the blue glaze, take the matte one.
correction | a: I mixed up the two orders: the vases go to Linz, the bowls to Graz.
emotion | h: I was so relieved when the kiln finally worked.
emotion | h: I'm worried sick about my dad.
learning | h: Lesson from the fair: bring twice as much change.
learning | a: From now on I will verify the address before I print a label.
context | h: Nadia is in charge of the shop on weekends.
context | h: The kiln needs at least nine hours to cool down.
context | h: The spare fuses are kept in the drawer under the till.
context | a: The labels came out blank because the printer had lost its driver.
marker | h: Please remember that the fire inspector comes on Tuesday at nine.
"""

_SEVENTH_NEAR = r"""
boundary | h: Who should I ask before I change a recipe?
boundary | h: Don't laugh, but I dropped the vase.
boundary | h: The landlord said nobody may use the yard.
boundary | h: Don't open the kiln yet, it's still hot.
boundary | h: No orders came in today.
trust | h: Is the seating plan up to me?
trust | h: My accountant has a free hand with the books.
trust | h: You can see the kiln from the street.
trust | h: I don't trust the weather.
decision | h: Should we switch from Jira to plain issues?
decision | h: The school is switching to tablets because of the ministry.
decision | h: We might stick with oil for another winter.
decision | h: I'm dropping the kids at school right now.
decision | h: Let's see if the glaze holds.
decision | a: You could use a queue instead of cron.
fact | h: My neighbour runs a pottery studio in Graz.
fact | h: I used to freelance.
fact | h: Is Emil allergic to shellfish?
fact | h: In the novel I am a potter and I live on an island.
fact | h: I have a fever today.
preference | h: Emil prefers working at night.
preference | h: I like what you did with the second one.
preference | h: Do you like the matte green?
dynamic | h: If the kiln cools down, close the shop.
dynamic | h: Start the kiln at noon.
dynamic | h: Write a short text about the fair.
correction | h: Not bad for a first try.
correction | h: What's wrong with the blue glaze?
correction | h: I meant to call Emil.
emotion | h: Emil was relieved.
emotion | h: Are you worried?
emotion | h: A sad clown is painted on the vase.
learning | h: What did you learn at the fair?
learning | a: You learned a lot this week.
context | h: Where are the spare fuses kept?
context | h: The kiln looks beautiful in this light.
context | h: Nadia says hi.
context | a: The labels may come out blank because of the driver.
marker | h: Do you remember the inspector?
marker | h: Nothing important happened.
"""

_EIGHTH = r"""
boundary | h: Please don't write to the school without showing me the text.
boundary | h: Medical stuff stays out of the shared notes.
boundary | h: Never accept a meeting before nine.
boundary | h: I want to approve every tweet before it goes out.
trust | h: You don't need my approval for moving appointments.
trust | h: Pick the cover yourself, you have a better eye.
trust | h: Book whatever train you think is best.
decision | h: We're replacing the old heater with a heat pump in autumn.
decision | h: Olga and I decided to home-school until Easter.
decision | h: Let's cancel the gym, nobody goes any more.
decision | h: I've decided against the surgery.
decision | h: The choir agreed to sing the Fauré in June.
decision | h: From May on we rehearse on Wednesdays.
decision | a: Decision: the sheet music is scanned at 300 dpi.
fact | h: I sing alto in the cathedral choir.
fact | h: My husband Piet is a carpenter.
fact | h: I'm lactose intolerant.
fact | h: We live in a houseboat on the Amstel.
fact | h: I was born in Gdansk.
fact | h: My father has Parkinson's.
preference | h: I love Bach but I can't stand Wagner.
preference | h: I'd rather write by hand than type.
dynamic | h: Please answer in Dutch when I write in Dutch.
dynamic | h: Whenever I send a photo of a letter, give me the deadline first.
dynamic | h: I hate it when you guess.
correction | h: No, the concert is on the 15th, not the 5th.
correction | h: I said alto, not soprano.
correction | h: You got the address wrong, we are at number 8.
emotion | h: I'm so proud of the kids!
emotion | h: I feel terribly guilty about missing the rehearsal.
learning | h: Lesson learned: never scan in grayscale.
learning | a: Next time I will ask for the key before I transpose.
context | h: Margriet is our conductor.
context | h: The scores are stored in the sacristy.
context | h: The church is only heated on Sundays.
context | a: The scan was too dark because the lamp was broken.
marker | h: Important: the contract with the church ends on 30 June.
"""

_EIGHTH_NEAR = r"""
boundary | h: Does the school accept mails?
boundary | h: Don't be shy, ask.
boundary | h: They never accept meetings before nine.
boundary | h: Please don't scan it again, I already did.
trust | h: Do you need my approval?
trust | h: Margriet picks the pieces herself.
decision | h: Have Olga and Piet decided?
decision | h: If we replace the heater, what does it cost?
decision | h: The neighbours cancelled the gym.
decision | h: I was thinking about a heat pump.
decision | a: You could scan at 300 dpi because it is sharper.
fact | h: My colleague sings alto.
fact | h: I wish I lived on a houseboat.
fact | h: I'm in the middle of a rehearsal.
fact | h: Was he born in Gdansk?
preference | h: Piet loves Bach.
preference | h: I love that suggestion.
dynamic | h: Answer the letter in Dutch.
dynamic | h: Give me the deadline of this letter.
correction | h: No, thank you.
correction | h: Is the address wrong?
emotion | h: The kids are so proud.
emotion | h: I'm happy with the scan.
learning | h: I need to learn the alto part.
context | h: Who is our conductor?
context | h: The concert was wonderful.
context | a: The scan might be too dark because of the lamp.
marker | h: Is the contract important?
"""

_HELD_OUT = r"""
boundary | h: Don't share the guest list with anyone.
boundary | h: Please ask the caterer nothing before I've signed.
boundary | h: The family stuff stays between us.
boundary | h: Never change a seat without asking my mother.
boundary | h: Invoices need my signature.
trust | h: You can answer the hotel on your own.
trust | h: I trust you to pick the music.
trust | h: No need to check with me about flowers.
trust | h: The menu is up to you.
decision | h: We're going with the smaller venue, since the big one has no parking.
decision | h: We decided against a live band.
decision | h: Let's skip the speeches, nobody likes them.
decision | h: My sister and I agreed to split the costs.
decision | h: We've booked the castle instead of the barn.
decision | h: Final decision: the ceremony is outdoors.
decision | h: OK, the vegetarian menu it is.
decision | a: I chose the later train because the first one has no seats left.
fact | h: I work as a wedding planner in Split.
fact | h: My fiance Marko is from Zadar.
fact | h: I have two sisters and a brother.
fact | h: I can't eat gluten.
fact | h: My grandmother turns ninety in May.
fact | h: We live with my parents.
preference | h: I prefer white flowers.
preference | h: I really don't like balloons.
preference | h: My favourite season is spring.
dynamic | h: Please keep your mails under ten lines.
dynamic | h: When a guest cancels, tell me right away.
dynamic | h: I love that you always give me the price first.
dynamic | h: Stop suggesting balloons.
correction | h: No, the wedding is in June, not in July.
correction | h: That's wrong, we have 80 guests.
correction | h: I said the castle, not the hotel.
correction | h: You confused Marko with his brother.
emotion | h: I'm so nervous about the weather.
emotion | h: I cried when I saw the dress.
learning | h: I learned that good florists are booked a year ahead.
learning | a: From now on I will read the contract before I summarise it.
context | h: Ivana is the caterer's assistant.
context | h: The keys to the castle are kept at the tourist office.
context | h: Our budget is 12,000 euros.
context | a: The booking failed because the card had expired.
marker | h: Please note that the ferry only runs until 10 pm.
marker | h: This is crucial: nobody tells Marko about the song.
"""

_HELD_OUT_NEAR = r"""
boundary | h: Don't you think the list is too long?
boundary | h: My mother never changes a seat.
boundary | h: Don't worry about the ferry.
boundary | h: Did I say never?
trust | h: Can you answer the hotel on your own?
trust | h: Marko trusts the caterer.
trust | h: You can see the castle from here.
decision | h: Did we decide against a band?
decision | h: We could skip the speeches.
decision | h: The hotel decided to raise its prices.
decision | h: If we book the castle, the barn is off.
decision | h: We're going to the castle with my parents tomorrow.
decision | a: You might choose the later train because it has seats.
fact | h: Marko says I work too much.
fact | h: Her sister has two kids.
fact | h: I was in Zadar once.
fact | h: Imagine I live in a castle.
preference | h: Marko prefers red.
preference | h: Do you prefer white or red?
preference | h: I like your idea.
dynamic | h: Tell me the price.
dynamic | h: Keep the ring safe.
correction | h: Nothing is wrong.
correction | h: No, not yet.
emotion | h: The bride cried.
emotion | h: I'm happy to wait.
learning | h: What did we learn?
context | h: Is Ivana the assistant?
context | h: The castle is beautiful.
context | a: The booking could fail because of the card.
marker | h: Is this crucial?
"""

_START = datetime(2026, 4, 8, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Planted:
    """A short conversation. `kinds`: what is to be found in it; `looks_like`: what is not, though it looks like it."""

    name: str
    turns: tuple[Turn, ...]
    kinds: frozenset[str]
    looks_like: str
    held_out: bool


def plant_conversations() -> list[Planted]:
    """Every planted conversation, near misses included."""
    parts: tuple[tuple[str, str, bool, bool], ...] = (
        ("first", _FIRST, False, False),
        ("first-near", _FIRST_NEAR, True, False),
        ("second", _SECOND, False, False),
        ("second-near", _SECOND_NEAR, True, False),
        ("third", _THIRD, False, False),
        ("third-near", _THIRD_NEAR, True, False),
        ("fourth", _FOURTH, False, False),
        ("fourth-near", _FOURTH_NEAR, True, False),
        ("fifth", _FIFTH, False, False),
        ("fifth-near", _FIFTH_NEAR, True, False),
        ("sixth", _SIXTH, False, False),
        ("sixth-near", _SIXTH_NEAR, True, False),
        ("seventh", _SEVENTH, False, False),
        ("seventh-near", _SEVENTH_NEAR, True, False),
        ("eighth", _EIGHTH, False, False),
        ("eighth-near", _EIGHTH_NEAR, True, False),
        ("plain", PLAIN, False, False),
        ("plain-near", PLAIN_NEAR, True, False),
        ("held-out-plain", PLAIN_HELD_OUT, False, True),
        ("held-out-plain-near", PLAIN_HELD_OUT_NEAR, True, True),
        ("held-out", _HELD_OUT, False, True),
        ("held-out-near", _HELD_OUT_NEAR, True, True),
    )
    planted = []
    for part, lines, is_near, held_out in parts:
        for number, line in enumerate(lines.strip().split("\n"), start=1):
            kinds, _, said = line.partition(" | ")
            name = f"{part}-{number}"
            planted.append(
                Planted(
                    name,
                    _turns(name, said),
                    frozenset() if is_near else frozenset(kinds.split()),
                    kinds if is_near else "",
                    held_out,
                )
            )
    return planted


def _turns(name: str, said: str) -> tuple[Turn, ...]:
    turns = []
    for line, words in enumerate(said.split(" // "), start=1):
        mark, _, text = words.partition(": ")
        speaker: Literal["human", "agent"] = "human" if mark == "h" else "agent"
        turns.append(
            Turn(
                memory_id=f"{name}:{line}",
                project_id="planted",
                conversation=name,
                line=line,
                speaker=speaker,
                said_at=_START + timedelta(minutes=line),
                words=text.replace("\\n", "\n"),
            )
        )
    return tuple(turns)
