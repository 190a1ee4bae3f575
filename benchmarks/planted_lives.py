"""What people say of their lives in passing, and what only looks like it, with what each gives: lines on which
`train_classifier.py` trains.

A line: the kinds of which any is right (none: nothing is to be kept), and what a human says.
"""

from __future__ import annotations

STATEMENTS = r"""
fact | I water the orchids every second Saturday.
fact | We shop at the market in Lund on Saturday mornings.
fact preference | I take my coffee with oat milk, no sugar.
fact | I see a podiatrist in Uppsala twice a year.
fact | We insure the car with Folksam.
fact | I subscribe to Dagens Nyheter.
fact | I earn 41,000 a month before tax.
fact | I weigh 71 kilos and want to stay there.
fact | I go to bed at 22:30 on school nights.
fact | I walk to the ferry every morning with the dog.
fact | We heat with wood pellets from November to March.
fact | I use a Garmin watch for my runs.
fact preference | I listen to P3 on the way to work.
fact | I study Danish on Thursday evenings at Folkuniversitetet.
fact | I pay 6,400 kronor a month for the flat.
fact | My tenancy ends on 30 June.
fact | Our insurance number is 88-204-17.
fact | My passport expires in May 2028.
fact | Our cat's vet is Doctor Lindqvist in Malmö.
fact | My shoe size is 44.
fact | My son Elias starts at the Montessori school in August.
fact | Our neighbour Gunilla has our spare key.
fact | My mother-in-law Birgit is moving to Kalmar in April.
fact | Dad's in ward 12 of the Skåne hospital since Sunday.
fact | My allowance for books is 900 kronor a quarter.
fact | I'm with Tele2 for the mobile.
fact | I'm a member of the rowing club in Lomma.
fact | I'm leasing a Polestar 2 until 2027.
fact boundary preference | I can't eat shellfish, it makes my throat swell.
fact | I've got a loan of 240,000 kronor at Swedbank.
fact decision context | We're going to Gotland from 3 to 17 July.
fact decision | We'll take on Henrik as the second baker.
dynamic | When you write to suppliers for me, start with the order number.
dynamic | Sign my mails with 'Hej då, Karin'.
dynamic | Save every receipt in the Expenses folder.
dynamic | Please add the page numbers to your summaries.
dynamic preference | I want a short report every Friday at noon.
fact | I take two tablets of metformin with dinner.
fact | My driving test is on 9 February in Eslöv.
fact preference | I'm trying to cut out sugar on weekdays.
"""
LOOK_ALIKES = r"""
- | My laptop is at 4 percent.
- | My train is 20 minutes late.
- | I see three errors in the log.
- | I take it that the Lund office is closed.
- | I use the old key here, as you see in line 12.
- | I need the report before 14:00.
- | I go to the shop now.
- | I think Tele2 is cheaper.
- | I wonder whether Elias starts in August.
- | I pay for this one with my card today.
- | I drive to Kalmar tomorrow.
- | I play the second one again and it stops at 0:45.
- | We take the second option of the three.
- | I weigh both sides before I answer.
- | I get a 502 every time I open the page.
- | I get error 1045 when I connect to Folksam.
- | I wear a red coat, look for me at gate 12.
- | If I take the ferry every morning, what does it cost?
- | My sister says I drive a Volvo like a tank.
- | He says he goes to bed at 22:30 every night.
- | I want to know when the ferry leaves on Fridays.
- | I read the chapter on Gotland yesterday.
- | My build is failing with exit code 137.
- | My test is red on line 44.
- | Our site is down since 14:05.
- | My query has two joins and a subselect.
- | My question is about the Polestar 2.
- | My guess is 30 June.
- | My idea is to take Henrik along.
- | Our meeting is at 15:00 today.
- | I'm with the plumber at the moment.
- | I'm a fool for believing Tele2.
- | I can't have the meeting at 3, make it 4.
- | I can't eat now, I'm in the train to Malmö.
- | I've got a call with Swedbank in ten minutes.
- | I've got two tabs open with the same file.
- | We're going to the shop, back at 17:00.
- | When you write to Henrik later, add the invoice.
- | Sign me up for the course on 9 February.
- | Put the receipt of yesterday in the Expenses folder.
"""


def lines_of(text: str) -> list[tuple[frozenset[str], str]]:
    """The lines of a list, each as its kinds and what is said."""
    parts = (line.split(" | ", 1) for line in text.strip().splitlines())
    return [(frozenset(kinds.split()) - {"-"}, words) for kinds, words in parts]
