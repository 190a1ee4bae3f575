"""Pairs of sentences of one human, two days apart: the second takes the first back, or only looks like it.

Each line: what was said first, `>>`, and what was said then, which may be two sentences. `_TAKEN_BACK`: the first is
withdrawn. `_BESIDE`: both stand, and nothing speaks against anything. Of those that were held out, what was found was not
looked at while rules were changed; each further set was written after rules had been mended with those before it.
"""

from __future__ import annotations

from dataclasses import dataclass

_TAKEN_BACK = r"""
I have two brothers. >> I don't have two brothers, I have a brother and a half-sister.
The planning call is on Wednesday. >> The planning call isn't on Wednesday any more, it moves to Friday.
I'm a smoker. >> I gave up smoking in spring, so I'm no smoker any more.
We decided to use Svelte for the frontend. >> We're not going with Svelte after all, it stays Angular.
We decided to host the site with Strato. >> Changed my mind about Strato: we take Infomaniak.
We use CircleCI for the builds. >> CircleCI is dead to us, we use Buildkite now.
We decided to send the newsletter weekly. >> On second thought, a weekly newsletter is too much. We go back to monthly.
Never contact the suppliers directly. >> From today you may contact the suppliers directly.
Never touch the pricing tables. >> The pricing tables are fine to touch again.
You're allowed to book hotels up to 120 euros. >> I'm taking that back: don't book any hotels without my okay.
I love working on Sundays. >> I've stopped loving work on Sundays.
I don't drink coffee. >> I drink coffee again, two cups a day.
I work as a nurse in a hospital. >> I don't work as a nurse any more, I teach at the nursing school now.
My daughter is five. >> My daughter turned six yesterday.
I live in Graz. >> We moved to Linz at the weekend.
I'm allergic to penicillin. >> Turns out I'm not allergic to penicillin, the doctor tested it.
I prefer phone calls over mails. >> These days I'd rather get a mail than a phone call.
The deploy runs at 22:00. >> The deploy runs at 23:30 now.
Our rent is 900 euros a month. >> Our rent went up to 980 euros a month.
Anna is responsible for the payroll. >> Anna isn't responsible for the payroll any more, Jonas is.
Keep your answers under five sentences. >> You don't have to keep your answers under five sentences any longer.
You may merge pull requests without asking me. >> Stop merging pull requests without asking me.
You may answer the support mails on your own. >> I want to see every support mail before you answer it from now on.
Ask me before you restart the router. >> You can restart the router whenever you like, no need to ask.
We decided to launch in May. >> The launch in May is off, we launch in September.
The invoices go out on the first of the month. >> The invoices no longer go out on the first of the month, they go out on the fifteenth.
I'm married. >> I'm divorced now.
We have three cats. >> We only have two cats now, Mimi died in August.
I like your long explanations. >> I've had enough of long explanations.
We decided to pay Tom by the hour. >> Instead of paying Tom by the hour, we pay him a fixed fee now.
My doctor is Dr. Brandt. >> My doctor isn't Dr. Brandt any longer, I changed to Dr. Okafor.
Always write the commit messages in German. >> Commit messages no longer need to be in German.
You decide which photos go on the website. >> I'd like to choose the photos for the website myself again.
We decided to build the shop with Magento. >> We're dropping Magento, Shopware does the job.
The backups are kept for 30 days. >> The backups are kept for 90 days from now on, not 30.
I'm learning Spanish. >> I've given up learning Spanish.
I hate olives. >> I actually like olives now.
Never order anything online. >> You may order things online now.
My brother works at Siemens. >> My brother doesn't work at Siemens any more, he's at Bosch.
We agreed to meet every Monday. >> We don't meet on Mondays any more, Tuesdays suit us better.
"""
_TAKEN_BACK_HELD_OUT = r"""
I have one son. >> I don't have one son, I have two.
The board meeting is on Tuesday. >> The board meeting isn't on Tuesday, it was moved to Monday.
I'm a vegetarian. >> I'm not a vegetarian now, I eat fish and meat.
We decided to use Django for the portal. >> We won't use Django for the portal after all, FastAPI it is.
We decided to rent the hall in Bremen. >> I changed my mind about the hall in Bremen: we rent the barn.
We use Trello for the tasks. >> We've left Trello, the tasks are in Linear now.
We decided to pay the invoices daily. >> Second thoughts: paying daily is a pain. We're back to weekly.
Never write to the parents directly. >> As of today you can write to the parents directly.
Don't touch the calendar of the choir without asking me. >> The choir's calendar is yours to edit again.
You may buy books up to 30 euros. >> I take that back: no buying books without my approval.
I enjoy long meetings. >> I no longer enjoy long meetings.
I don't eat fish. >> I've started eating fish again.
I'm a student in Leiden. >> I finished my studies, I'm no student any longer.
My son is three. >> My son is four now.
I work for Lufthansa. >> Since October I work for Condor.
The standup starts at 9:15. >> The standup now starts at 9:45.
I'm afraid of dogs. >> I'm not afraid of dogs any more.
You can push to staging without asking me. >> Pushing to staging needs my okay from now on.
Always ask me before you change the budget. >> You may change the budget without asking me from now on.
We decided to keep the old logo. >> We're not keeping the old logo, the new one wins.
"""
_BESIDE = r"""
I have two brothers. >> I don't have two hands free at the moment.
The planning call is on Wednesday. >> The dentist isn't on Wednesday any more, it moves to Friday.
I'm a smoker. >> My wife is no smoker any more.
We decided to use Svelte for the frontend. >> We're not going with Svelte courses after all, the books are enough.
We decided to host the site with Strato. >> Changed my mind about the garden: we take gravel.
We use CircleCI for the builds. >> The old printer is dead to us, we use the one upstairs now.
We decided to send the newsletter weekly. >> On second thought, weekly piano lessons are too much. We go back to monthly.
Never contact the suppliers directly. >> From today you may contact the translators directly.
Never touch the pricing tables. >> The garden tables are fine to touch again, the paint is dry.
You're allowed to book hotels up to 120 euros. >> Don't book any flights without my okay.
I love working on Sundays. >> I've stopped loving this song.
I don't drink coffee. >> I drink tea again, two cups a day.
I work as a nurse in a hospital. >> I don't work on weekends any more.
My daughter is five. >> My niece turned six yesterday.
I live in Graz. >> Our server moved to Linz at the weekend.
I'm allergic to penicillin. >> I'm not allergic to work, I just like Sundays.
I prefer phone calls over mails. >> I'd rather get a new phone than repair the old one.
The deploy runs at 22:00. >> The cleaning runs at 23:30 now.
Our rent is 900 euros a month. >> Our insurance went up to 980 euros a month.
Anna is responsible for the payroll. >> Anna isn't responsible for the broken window.
Keep your answers under five sentences. >> You don't have to keep the receipts any longer.
You may merge pull requests without asking me. >> Stop asking me about the pull requests of the interns.
You may answer the support mails on your own. >> I want to see every press mail before you answer it from now on.
Ask me before you restart the router. >> You can restart the game whenever you like.
We decided to launch in May. >> The holiday in May is off, we go in September.
The invoices go out on the first of the month. >> The reminders go out on the fifteenth now.
I'm married. >> My sister is divorced now.
We have three cats. >> We only have two chairs now, one broke in August.
I like your long explanations. >> I've had enough of long winters.
We decided to pay Tom by the hour. >> Instead of paying Kim a fixed fee, we pay her by the piece now.
My doctor is Dr. Brandt. >> Dr. Brandt isn't in the office on Mondays any longer.
Always write the commit messages in German. >> The menu no longer needs to be in German.
You decide which photos go on the website. >> I'd like to choose the curtains for the kitchen myself.
We decided to build the shop with Magento. >> We're dropping the blog, the shop does the job.
The backups are kept for 30 days. >> The logs are kept for 90 days from now on, not 30.
I'm learning Spanish. >> I've given up learning the guitar.
I hate olives. >> I actually like capers now.
Never order anything from abroad. >> You may order the paper from the shop next door now.
My brother works at Siemens. >> My cousin doesn't work at Siemens any more, he's at Bosch.
We agreed to meet every Monday. >> The choir doesn't meet on Mondays any more.
"""
_BESIDE_HELD_OUT = r"""
I have one son. >> I don't have one free hour this week.
The board meeting is on Tuesday. >> The school meeting isn't on Tuesday, it was moved to Monday.
I'm a vegetarian. >> My boss isn't a vegetarian now, he eats fish and meat.
We decided to use Django for the portal. >> We won't use Slack for the portal team after all, mails are enough.
We decided to rent the hall in Bremen. >> I changed my mind about the hotel in Bremen: we stay with friends.
We use Trello for the tasks. >> We've left the choir, there's no time for it now.
We decided to pay the invoices daily. >> Second thoughts: watering daily is a pain. We're back to weekly.
Never write to the parents directly. >> As of today you can write to the printers directly.
Don't touch the calendar of the choir without asking me. >> The calendar of the band is yours to edit again.
You may buy books up to 30 euros. >> No buying tickets without my approval.
I enjoy long meetings. >> I no longer enjoy long drives.
I don't eat fish. >> I've started feeding the fish again.
I'm a student in Leiden. >> My brother finished his studies, he's no student any longer.
My son is three. >> My nephew is four now.
I work for Lufthansa. >> My wife works for Condor since October.
The standup starts at 9:15. >> The yoga class now starts at 9:45.
I'm afraid of dogs. >> I'm not afraid of work.
You can push to staging without asking me. >> Pushing to production needs my okay from now on.
Always ask me before you change the budget. >> You may change the background picture without asking me from now on.
We decided to keep the old logo. >> We're not keeping the old sofa, the new one wins.
"""
_TAKEN_BACK_SECOND = r"""
I have a brother named Paul. >> Sorry, I have no brother named Paul, that's my cousin.
The weekly sync is on Thursdays. >> We've moved the weekly sync to Tuesdays.
I'm left-handed. >> Actually I'm right-handed, I mixed that up.
We decided to use Terraform for the servers. >> Terraform didn't work out, we do it with Ansible now.
We decided to go with Stripe for the payments. >> Stripe turned us down, so Mollie it is.
I drink coffee every morning. >> I've switched from coffee to tea.
You may publish blog posts without asking me. >> No more publishing blog posts without my say-so.
You can pay invoices under 200 euros on your own. >> I'd rather approve every invoice myself from now on.
Never message the tenants after eight. >> It's okay to message the tenants after eight now.
Don't open the door for couriers. >> You can open the door for couriers from now on.
I prefer window seats. >> I've come to prefer aisle seats.
My sister works at the post office. >> My sister quit the post office, she's a florist now.
My son goes to the Montessori school. >> My son no longer goes to the Montessori school.
Our office is in the Kaiserstrasse. >> Our office has moved to the Lindenallee.
The support line is open until 18:00. >> The support line closes at 17:00 now.
The database is Postgres 14. >> The database is Postgres 16 now.
The budget for the party is 2,000 euros. >> The budget for the party was cut to 1,500 euros.
We have two cars. >> We sold one of the cars, so we have one car now.
I'm allergic to cats. >> My cat allergy is gone.
I work from home on Fridays. >> I don't work from home on Fridays these days.
I always start work at seven. >> I start work at eight now.
Lena is our accountant. >> Lena isn't our accountant any longer.
Lena is our accountant. >> Our accountant is Tim now.
We decided to hire a second designer. >> We've dropped the idea of a second designer.
We decided to close the shop on Mondays. >> We're opening the shop on Mondays again.
We agreed to invoice in dollars only. >> Let's go back to invoicing in euros.
I want you to answer in French. >> Please stop answering in French.
Always add emojis to the posts. >> No emojis in the posts any more.
Keep the summaries short. >> The summaries can be long again.
I hate video calls. >> I don't mind video calls any more.
I love spicy food. >> I can't stand spicy food any more.
I'm afraid of flying. >> I've got over my fear of flying.
I live with my parents. >> I moved out of my parents' place.
We use tabs for indentation. >> We're switching from tabs to spaces.
The cleaner comes on Wednesdays. >> The cleaner comes on Fridays from now on.
You may reply to journalists. >> Leave the journalists to me from now on.
My phone number is 0151 2233. >> My phone number has changed, it's 0160 9988.
Our landlord is Mr. Huber. >> Mr. Huber isn't our landlord any more, he sold the house.
The trial ends on 3 May. >> The trial has been extended to 10 May.
I don't eat dairy. >> I'm eating dairy again.
"""
_BESIDE_SECOND = r"""
I have a brother named Paul. >> Sorry, I have no time for Paul today.
The weekly sync is on Thursdays. >> We've moved the sofa to the cellar.
I'm left-handed. >> My daughter is right-handed.
We decided to use Terraform for the servers. >> The marinade didn't work out, we do it with lemon now.
I drink coffee every morning. >> I've switched from coffee filters to a press.
You may publish blog posts without asking me. >> No more publishing photos of the kids.
You can pay invoices under 200 euros on your own. >> I'd rather pay the baker myself from now on.
Never message the tenants after eight. >> It's okay to message my sister after eight now.
I prefer window seats. >> I've come to prefer rainy days.
My sister works at the post office. >> My sister quit smoking, she's happy now.
My son goes to the Montessori school. >> My son no longer goes to judo.
Our office is in the Kaiserstrasse. >> Our meeting has moved to the big room.
The support line is open until 18:00. >> The canteen closes at 17:00 now.
The database is Postgres 14. >> The cache is Redis 7 now.
The budget for the party is 2,000 euros. >> The budget for the garden was cut to 1,500 euros.
We have two cars. >> We have one bike now.
I'm allergic to cats. >> My dust allergy is gone.
I work from home on Fridays. >> I don't work on Sundays these days.
I always start work at seven. >> I start the dishwasher at eight now.
Lena is our accountant. >> Lena isn't our neighbour any longer.
Lena is our accountant. >> Our gardener is Tim now.
We decided to hire a second designer. >> We've dropped the second meeting.
We decided to close the shop on Mondays. >> We're opening the pool on Mondays again.
I want you to answer in French. >> Please stop answering the phone.
Always add emojis to the posts. >> No dogs in the garden any more.
Keep the summaries short. >> The evenings can be long again.
I hate video calls. >> I don't mind the rain any more.
I love spicy food. >> I can't stand loud music any more.
I live with my parents. >> I moved out of the meeting room.
We use tabs for indentation. >> We're switching from gas to electricity.
The cleaner comes on Wednesdays. >> The plumber comes on Fridays from now on.
You may reply to journalists. >> Leave the dishes to me from now on.
My phone number is 0151 2233. >> My door code has changed, it's 9988.
The trial ends on 3 May. >> The exhibition has been extended to 10 May.
I don't eat dairy. >> I'm eating lunch again.
My wife is a vegetarian. >> I'm not a vegetarian any more.
Tom is allergic to nuts. >> I'm not allergic to nuts.
The rent for the garage is 80 euros. >> The rent for the flat is 980 euros now.
The train to Bonn leaves at 8:10. >> The train to Mainz leaves at 8:40 now.
The backup of the shop runs at 02:00. >> The backup of the blog runs at 04:00 now.
Never call the clients on Sundays. >> You may call the clients on Saturdays.
Send the report on Mondays. >> Don't send the newsletter on Mondays.
I like Berlin. >> I don't like the airport in Berlin any more.
My mother lives in Kiel. >> I no longer live in Kiel.
We use Slack for the team. >> We don't use Slack for customers any more.
We decided to use Redis for the queue. >> We don't use Redis for sessions any more.
The API key expires in May. >> The API documentation moves to a new page in June.
"""
_TAKEN_BACK_THIRD = r"""
I have four grandchildren. >> I don't have four grandchildren, I have five.
The parents' evening is on 12 March. >> The parents' evening isn't on 12 March, they moved it to the 19th.
I'm a night owl. >> I'm no night owl any longer.
We decided to go with Angular. >> Forget Angular, we're doing it in Svelte.
We decided to print the flyers in colour. >> Colour is too expensive, so we print the flyers in black and white.
We use Mailchimp for the newsletter. >> We said goodbye to Mailchimp, Brevo does the newsletter now.
We decided to release every Friday. >> On reflection, releasing every Friday is too risky. We release on Tuesdays.
Never share our roadmap with partners. >> As of now you may share our roadmap with partners.
Never edit the contracts folder. >> The contracts folder is open for editing again.
You're allowed to give discounts up to 10 percent. >> I take it back: no discounts without asking me.
I love working at night. >> I've lost my love for working at night.
I don't eat eggs. >> I can eat eggs again.
My nephew is nine. >> My nephew just turned ten.
I live in Antwerp. >> We've relocated to Bruges.
I work for the city council. >> I left the city council, I work for a law firm now.
Our wifi password is Sunflower22. >> We changed the wifi password, it's Tulip23 now.
The night shift begins at 21:00. >> As of Monday the night shift begins at 22:00.
My favourite editor is Vim. >> My favourite editor is Helix now.
I'm engaged. >> We got married in May.
The library closes at 20:00. >> The library closes at 19:00 from now on.
Ask me before you change the prices. >> You don't need my okay for changing prices any more.
Keep me informed about every deployment. >> You don't need to keep me informed about every deployment any more.
You may restart the mail server at night. >> Hands off the mail server from now on.
You decide on the layout. >> The layout is my decision from now on.
We decided to translate the site into Polish. >> The Polish translation is cancelled.
We decided to rent the small office. >> We'll take the big office after all, not the small one.
I take my coffee with sugar. >> I take my coffee black now.
I'm vegan. >> I'm back to eating cheese, so not vegan any more.
Jana does our bookkeeping. >> Jana no longer does our bookkeeping.
Marco is our contact at the bank. >> Marco has left the bank, our contact is Silvia now.
The invoices are sent by post. >> The invoices are sent by e-mail now.
Our standard discount is 5 percent. >> Our standard discount is 7 percent since January.
I prefer meetings in the morning. >> I prefer meetings in the afternoon now.
I like jazz. >> I've gone off jazz.
You can use my credit card for small things. >> Don't use my credit card any more.
Call me Bob. >> Please call me Robert from now on, not Bob.
We meet the investors on Monday. >> We won't meet the investors on Monday after all.
Tests run on every push. >> Tests don't run on every push any more, only at night.
I'm learning the piano. >> I've stopped my piano lessons.
My dog is called Rex. >> Rex died, we have no dog any more.
"""
_BESIDE_THIRD = r"""
I have four grandchildren. >> I don't have four wheels, I have a bike.
The parents' evening is on 12 March. >> The rehearsal isn't on 12 March, they moved it to the 19th.
We decided to go with Angular. >> Forget the angular frame, we take the round one.
We decided to print the flyers in colour. >> Gold is too expensive, so we buy silver rings.
We use Mailchimp for the newsletter. >> We said goodbye to grandma, she leaves now.
We decided to release every Friday. >> On reflection, swimming every Friday is too tiring.
Never share our roadmap with partners. >> As of now you may share our photos with partners.
Never edit the contracts folder. >> The pool is open for swimming again.
I love working at night. >> I've lost my keys at night.
My nephew is nine. >> My nephew just turned on the light.
I live in Antwerp. >> My parents have relocated to Bruges.
I work for the city council. >> I left the meeting, I work in the kitchen now.
Our wifi password is Sunflower22. >> We changed the tyres, it's safe now.
The night shift begins at 21:00. >> As of Monday the early shift begins at 6:00.
My favourite editor is Vim. >> My favourite song is Halo now.
I'm engaged. >> My sister got married in May.
The library closes at 20:00. >> The bakery closes at 19:00 from now on.
Ask me before you change the prices. >> You don't need my okay for changing the background any more.
You may restart the mail server at night. >> Hands off the cake from now on.
You decide on the layout. >> The dinner is my decision.
We decided to translate the site into Polish. >> The Polish lesson is cancelled.
I'm vegan. >> My brother isn't vegan any more.
Jana does our bookkeeping. >> Jana no longer does yoga.
Marco is our contact at the bank. >> Marco has left the party.
The invoices are sent by post. >> The parcels are sent by courier now.
Our standard discount is 5 percent. >> Our student discount is 7 percent since January.
I like jazz. >> I've gone off mushrooms.
You can use my credit card for small things. >> Don't use my razor any more.
We meet the investors on Monday. >> We won't meet the neighbours on Monday after all.
Tests run on every push. >> Ads don't run on every page any more.
I'm learning the piano. >> I've stopped the music.
My dog is called Rex. >> Rex is asleep now.
I live in Vienna with my husband. >> My husband no longer works in Vienna.
My office is in Bonn. >> My dentist is in Bonn now.
You may order pizza for the team. >> Don't order pizza for the kids without asking me.
The alarm goes off at 6:30. >> The alarm goes off at 7:30 on Saturdays now.
We have two printers. >> We have three printers on the second floor now.
I like short answers. >> I don't like short nights.
The meeting is on Monday. >> The meeting with the bank is on Tuesday now.
Our server is in Frankfurt. >> Our backup server is in Paris now.
"""
_TAKEN_BACK_FOURTH = r"""
I have a nephew called Finn. >> My nephew isn't called Finn, he's called Flynn.
We decided to use Notion for the docs. >> Let's drop Notion, the docs live in the repo now.
The garbage is collected on Tuesdays. >> The garbage gets collected on Fridays now.
I'm a member of the sailing club. >> I left the sailing club in autumn.
You may book trains without asking me. >> Please check with me before you book trains.
You may book trains without asking me. >> You can't book trains on your own any longer.
Never write to my boss. >> You can write to my boss from today on.
Don't use the company card for software. >> Using the company card for software is fine now.
I love Indian food. >> Indian food isn't my thing any more.
I don't like audiobooks. >> I enjoy audiobooks these days.
My wife is a dentist. >> My wife isn't a dentist any more, she runs a bakery.
I live in Tromsø. >> I don't live in Tromsø any more.
Our cloud bill is 400 dollars a month. >> Our cloud bill is down to 250 dollars a month.
The password policy is 12 characters. >> The password policy is 16 characters from now on.
We decided to open on Sundays. >> We're not opening on Sundays after all.
We decided to take the offer from Delta. >> We turned down the offer from Delta after all.
The interview is on 4 June. >> The interview has been moved to 6 June.
I take the bus to work. >> I cycle to work now.
I run every morning. >> I don't run in the morning any more.
My father lives in Malmö. >> My father moved to Lund.
Send me a summary every evening. >> You needn't send me a summary every evening any more.
Always use formal language with clients. >> You no longer have to use formal language with clients.
We use two-week sprints. >> Our sprints are three weeks long now.
I'm 52. >> I'm 53 now.
Ada is the team lead. >> Ada isn't the team lead any more.
I wear glasses. >> I don't wear glasses any more, I had surgery.
We decided to send the samples by courier. >> Scrap the courier, we send the samples by post.
Never reboot the NAS. >> Rebooting the NAS is okay again.
I prefer e-mail to chat. >> I now prefer chat to e-mail.
You decide the order of the talks. >> I'll decide the order of the talks myself from now on.
"""
_BESIDE_FOURTH = r"""
I have a nephew called Finn. >> My neighbour isn't called Finn.
We decided to use Notion for the docs. >> Let's drop the notion that docs write themselves.
The garbage is collected on Tuesdays. >> The paper gets collected on Fridays now.
I'm a member of the sailing club. >> I left my jacket at the sailing club.
You may book trains without asking me. >> Please check with me before you book hotels.
Never write to my boss. >> You can write to my sister from today on.
Don't use the company card for software. >> Using the company car for holidays is fine now.
I love Indian food. >> Fast food isn't my thing any more.
I don't like audiobooks. >> My kids enjoy audiobooks these days.
My wife is a dentist. >> My dentist isn't my neighbour any more.
I live in Tromsø. >> My aunt doesn't live in Tromsø any more.
Our cloud bill is 400 dollars a month. >> Our phone bill is down to 25 dollars a month.
The password policy is 12 characters. >> The username is 16 characters from now on.
We decided to open on Sundays. >> We're not opening the windows on Sundays.
The interview is on 4 June. >> The interview with the radio is on 6 June.
I run every morning. >> I don't run the tests in the morning any more.
My father lives in Malmö. >> My father's company moved to Lund.
Send me a summary every evening. >> You needn't send the kids a reminder every evening any more.
We use two-week sprints. >> Our holidays are three weeks long now.
I'm 52. >> My bike is 3 years old now.
Ada is the team lead. >> Ada isn't in the office any more.
I wear glasses. >> I don't wear ties any more.
We decided to send the samples by courier. >> Scrap the old flyers, we send new ones.
Never reboot the NAS. >> Rebooting the laptop is okay.
I prefer e-mail to chat. >> I now prefer rye to wheat.
You decide the order of the talks. >> I'll order the pizza myself from now on.
I work in a hospital. >> I was in hospital, I'm fine now.
My train leaves at 7:12. >> My lunch break is at 12:30 now.
I don't eat pork. >> I eat fish again.
We are closed on Mondays. >> We're open on Sundays again.
We use Slack and Zoom for calls. >> We don't use Slack for customers any more.
We decided to open the office in Bonn. >> Bonn is too far, so I take the train today.
I drive a red car. >> I left the red car at home.
The report goes to Anna. >> The report is 5 pages, now let's go.
I have a headache medicine in the car. >> My headache is gone.
You may restart the workers without asking me. >> Stop restarting the game without asking me.
You may restart the workers without asking me. >> Stop restarting the workers for a moment.
Never push to main. >> You can push the button again.
Never delete customer data. >> You may delete the test data.
Never call me before nine. >> You may call my assistant before nine.
I'm allergic to nuts. >> My son is no longer allergic to nuts.
I'm allergic to nuts. >> I'm not allergic to hazelnuts.
My daughter plays the violin. >> I don't play the violin any more.
My brother lives in Ghent. >> I no longer live in Ghent.
I live in Ghent. >> My brother no longer lives in Ghent.
My boss is called Ruth. >> My dog is called Ruth now.
The standup is at 9:15. >> The standup of the design team is at 9:45 now.
The standup is at 9:15. >> The standup is at 10:00 today.
The rent is 900 euros. >> The rent for the parking space is 60 euros now.
We decided to use Postgres for the shop. >> We decided to use MySQL for the blog instead of files.
We decided to use Postgres for the shop. >> The Postgres course is cancelled.
We decided to use Postgres for the shop. >> Forget the Postgres book, I found it.
We decided to hire Tom. >> Tom is out today, we talk tomorrow.
We decided to launch in May. >> The party in May is off, we eat at home.
I like tea. >> I've had enough of tea for today.
I like tea. >> I don't want any tea.
I like tea. >> I don't like cold tea.
I like long walks. >> I don't like long walks in the rain.
I love Sundays. >> I've stopped working on Sundays.
I hate Mondays. >> I work on Mondays again.
I prefer trains to planes. >> These days I'd rather read than watch TV.
Answer me in German. >> Don't answer the phone in German.
Keep your answers short. >> You don't have to keep the receipts.
Commit messages must be in English. >> The menu doesn't need to be in English any more.
Ask me before you book a flight. >> You can book a table whenever you like.
Ask me before you book a flight. >> You may book the meeting room without asking.
You may order paper without asking me. >> Ask me before you order toner.
You may order paper without asking me. >> I'd like to see every order of toner before it goes out.
You decide about the menu. >> The guest list is my decision.
You may answer the support mails on your own. >> Leave the mails from the bank to me.
Anna is responsible for the payroll. >> Anna is no longer responsible for the coffee machine.
Anna is responsible for the payroll. >> Tim is responsible for the garden now.
Jana does our bookkeeping. >> Tim does our gardening now.
Our accountant is Lena. >> Our accountant's office is in Kiel now.
The backup runs at 02:00. >> The backup of the photos runs at 04:00 now.
The limit is 40 requests. >> The limit for guests is 10 requests now.
We have three cats. >> My sister has two cats now.
We have three cats. >> We don't have cats in the office.
My son is seven. >> My son has seven friends now.
My son is seven. >> My son is in class 2 now.
I work as a nurse. >> I don't work nights any more.
I work as a nurse. >> My mother works as a nurse now.
I'm married. >> I'm not married to this plan.
I'm vegan. >> This cake is not vegan any more.
I speak Dutch. >> My wife no longer speaks Dutch at home.
The retro is on Monday. >> The retro notes aren't in Monday any more, they moved to Notion.
The retro is on Monday. >> The retro is not on Monday next week.
The deploy takes 14 minutes. >> The build takes 9 minutes now.
Deploy only from the release branch. >> You may deploy the docs from any branch.
Don't touch the billing tables. >> The billing page is fine to touch again.
I use Vim. >> I don't use Vim for mails any more.
We agreed to pay weekly. >> On second thought, weekly swimming is too much.
We agreed to meet every Thursday at ten. >> We don't meet the neighbours on Thursdays any more.
We are not renewing the contract with VetSoft. >> We renewed the contract with Aldi.
My favourite colour is green. >> My favourite band is Blur now.
I was born in Izmir. >> My bike was stolen in Izmir, I have a new one now.
Our VPN expires every 90 days. >> Our lease expires in 30 days now.
"""
_TAKEN_BACK_FIFTH = r"""
I'm a heavy smoker. >> I haven't smoked since spring, I'm a non-smoker now.
The choir rehearses on Wednesdays. >> Choir rehearsal is on Thursdays now.
We decided to buy the blue van. >> We bought the white van instead of the blue one.
You may cancel appointments on your own. >> From now on, no cancelling appointments without a word to me.
Never mention the merger to anyone. >> The merger is public now, you can mention it.
I love camping. >> Camping? Not any more, I'm too old for that.
My manager is Priya. >> Since last week my manager is Oliver.
My car is a Golf. >> I traded the Golf in, my car is a Zoe now.
I take two sugars in my tea. >> I've cut out sugar.
We decided to support Windows 10. >> We're ending support for Windows 10.
We host the app on Heroku. >> The app isn't hosted on Heroku any more, it's on Fly.
The guest wifi is called Blue. >> The guest wifi is called Green now.
I'm on a gluten-free diet. >> I'm off the gluten-free diet.
My flight is at 14:20. >> My flight was rebooked to 16:05.
Don't schedule anything before ten. >> You can schedule things before ten again.
Ask me before you reply to Karin. >> You can reply to Karin without asking from now on.
Write all tickets in English. >> Tickets can be in German from now on.
I dislike mushrooms. >> I've started to like mushrooms.
I like working in the office. >> I don't like working in the office these days.
Our supplier is Metro. >> We've switched suppliers from Metro to Transgourmet.
The report has to be ten pages. >> The report only has to be five pages now.
I'm the treasurer of the club. >> I'm not the treasurer of the club any longer.
My mother is 78. >> My mother turned 79 last week.
We agreed on a budget of 3,000 euros. >> We've raised the budget to 3,500 euros.
You may use my photos on the website. >> Please don't use my photos on the website any more.
"""
_BESIDE_FIFTH = r"""
The choir rehearses on Wednesdays. >> The band rehearses on Thursdays now.
We decided to buy the blue van. >> The blue pen is empty now.
You may cancel appointments on your own. >> No cancelling the gym without a word to me.
My manager is Priya. >> Since last week my tutor is Oliver.
My car is a Golf. >> My wife's car is a Zoe now.
We decided to support Windows 10. >> We're ending the call in 10 minutes.
We host the app on Heroku. >> The blog isn't on Heroku any more.
The guest wifi is called Blue. >> The cat is called Green now.
My flight is at 14:20. >> My appointment was rebooked to 16:05.
Don't schedule anything before ten. >> You can call the kids before ten again.
Ask me before you reply to Karin. >> You can reply to Jan without asking from now on.
Write all tickets in English. >> The songs can be in German.
I dislike mushrooms. >> I've started to like peppers.
I like working in the office. >> I don't like the light in the office these days.
The report has to be ten pages. >> The poem only has to be five lines now.
My mother is 78. >> My aunt turned 79 last week.
We agreed on a budget of 3,000 euros. >> We've raised the fence to 2 metres.
You may use my photos on the website. >> Please don't use my name on the website.
I'm the treasurer of the club. >> I'm not the captain of the club any longer.
The kitchen closes at 22:00. >> The bar of the kitchen staff closes at 23:00 now.
I live in Lyon. >> I don't live in the centre of Paris any more.
I sleep eight hours. >> My baby sleeps six hours now.
You can spend up to 100 euros on books. >> Ask me before you spend money on furniture.
We use Figma for the designs. >> We don't use Figma for slides any more.
My favourite dish is ramen. >> My favourite ramen is at Ippudo now.
"""


@dataclass(frozen=True, slots=True)
class PlantedPair:
    """What a human said first, and two days later; whether the first is then taken back."""

    first: str
    then: str
    is_taken_back: bool
    held_out: bool


def plant_reversals() -> list[PlantedPair]:
    """All pairs."""
    parts: tuple[tuple[str, bool, bool], ...] = (
        (_TAKEN_BACK, True, False),
        (_TAKEN_BACK_HELD_OUT, True, True),
        (_BESIDE, False, False),
        (_BESIDE_HELD_OUT, False, True),
        (_TAKEN_BACK_SECOND, True, False),
        (_BESIDE_SECOND, False, False),
        (_TAKEN_BACK_THIRD, True, False),
        (_BESIDE_THIRD, False, False),
        (_TAKEN_BACK_FOURTH, True, False),
        (_BESIDE_FOURTH, False, False),
        (_TAKEN_BACK_FIFTH, True, False),
        (_BESIDE_FIFTH, False, False),
    )
    return [
        PlantedPair(*line.split(" >> "), is_taken_back=taken_back, held_out=held_out)
        for lines, taken_back, held_out in parts
        for line in lines.strip().splitlines()
    ]
