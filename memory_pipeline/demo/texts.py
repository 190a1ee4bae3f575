"""What the demo writes: notes, knowledge-base entries, and what the machinery of its agents repeats."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple


class Lesson(NamedTuple):
    """One lesson that was written down several times: its wordings, the details that single notes add, a question whose
    answer is in one of the details, and the rule that it shares with other lessons, if it does."""

    project: str
    wordings: tuple[str, ...]
    details: tuple[str, ...]
    question: str
    answer: str
    rule: str = ""


LESSONS = (
    Lesson("webshop", ("Restart the payment gateway after rotating its API key, otherwise it keeps using the old key.",
        "After rotating the payment gateway's API key, restart the gateway, otherwise it keeps using the old key.",
        "New API key for payments? Then bounce the gateway as well, it goes on with the old one otherwise."),
        ("The old key stays cached for 15 minutes.", "Dana lost two test orders to this.", "The health page still shows green meanwhile.", "A reload signal is not enough."),
        "How long does the payment gateway keep the old API key cached?", "15 minutes"),
    Lesson("webshop", ("Product images must be resized before upload, because the CDN refuses files that are too large.",
        "Resize product images before upload: the CDN refuses files that are too large.",
        "The CDN turns away oversized pictures, so shrink product photos prior to uploading."),
        ("The limit is 8 MB per file.", "WebP works best for thumbnails.", "The error message only says 'denied'."),
        "What is the CDN's size limit for product images?", "8 MB"),
    Lesson("webshop", ("The stock sync with the warehouse fails when the CSV has a trailing empty line.",
        "When the CSV has a trailing empty line, the stock sync with the warehouse fails."),
        ("The job is called stock_sync.", "Trim the file with the script in tools/trim_csv.py.", "It happened after the supplier changed their export.", "The log shows 'row 0 has no SKU'."),
        "Which script trims the stock CSV?", "tools/trim_csv.py"),
    Lesson("webshop", ("Send the weekly sales numbers to Dana as CSV, she cannot open XLSX on her tablet.",
        "Dana cannot open XLSX on her tablet, so send the weekly sales numbers to Dana as CSV."),
        ("She reads them on Monday at 08:00.", "Use semicolons as separator.", "Leave out the returns column."),
        "When does Dana read the weekly sales numbers?", "08:00"),
    Lesson("webshop", ("Clear the template cache after editing e-mail templates, or customers receive the old text.",
        "After editing e-mail templates clear the template cache, or customers receive the old text."),
        ("The command is shopctl cache clear.", "Order confirmations were wrong for 3 hours in February.", "The preview does not use the cache, so it looks fine.", "The cache lives in Redis database 2.", "Staging has no cache at all."),
        "Which command clears the template cache?", "shopctl cache clear", "Clear the cache ("),
    Lesson("webshop", ("After replacing product images, clear the CDN cache, otherwise the old pictures stay for a day.",
        "Clear the CDN cache after replacing product images, otherwise the old pictures stay for a day."),
        ("A purge takes 90 seconds.", "The button is in the CDN's second tab.", "Marketing noticed it first."),
        "How long does a purge of the CDN take?", "90 seconds", "Clear the cache ("),
    Lesson("webshop", ("Clear the menu cache after renaming a category, or the navigation shows the old name.",
        "After renaming a category clear the menu cache, or the navigation shows the old name."),
        ("Hiking gear kept its old name for 2 days.", "The sitemap is rebuilt at 03:15.", "The footer reads the same cache."),
        "When is the webshop's sitemap rebuilt?", "03:15", "Clear the cache ("),
    Lesson("homelab", ("The nightly backup to the NAS fails silently when the disk is more than ninety percent full.",
        "When the disk is more than ninety percent full, the nightly backup to the NAS fails silently.",
        "Over 90% disk usage and the NAS backup at night just doesn't happen, without any error."),
        ("The log is in /var/log/backup/nas.log.", "Old snapshots take most of the space.", "restic prune frees about 40 GB.", "The exit code is 0 even then.", "An alert at 85% was set up."),
        "Where is the log of the NAS backup?", "/var/log/backup/nas.log"),
    Lesson("homelab", ("Update the Zigbee stick firmware only with the coordinator stopped, else all lamps must be paired again.",
        "Stop the coordinator before updating the Zigbee stick firmware, else all lamps must be paired again."),
        ("Pairing took 2 hours last time.", "Keep a copy of coordinator_backup.json.", "The flasher wants Python 3.11.", "The hallway lamp never paired again and was replaced."),
        "Which file should be copied before updating the Zigbee stick?", "coordinator_backup.json"),
    Lesson("homelab", ("The VPN drops every few minutes when the MTU is left at its default, so set it lower.",
        "Set the VPN's MTU lower: at its default the VPN drops every few minutes.",
        "Lower the MTU for the VPN, the default value makes the connection drop every couple of minutes."),
        ("1380 works well.", "Only the mobile network shows it.", "wg show tells the last handshake.", "The setting is in wg0.conf."),
        "Which MTU works well for the VPN?", "1380"),
    Lesson("homelab", ("Renew the wildcard certificate by DNS challenge, the HTTP challenge cannot reach the home network.",
        "The HTTP challenge cannot reach the home network, so renew the wildcard certificate by DNS challenge.",
        "Wildcard cert: go for the DNS challenge, our home network can't be reached by the HTTP one."),
        ("It expires every 90 days.", "The token of the DNS provider is in the vault.", "nginx needs a reload afterwards.", "The cron job runs on the 5th."),
        "On which day does the certificate cron job run?", "5th"),
    Lesson("homelab", ("Take a backup before updating Home Assistant, the February release broke two automations.",
        "Before updating Home Assistant, take a backup: the February release broke two automations."),
        ("The archive has 1.9 GB.", "It takes 4 minutes.", "The blinds automation was one of them."),
        "How large is the archive of Home Assistant?", "1.9 GB", "Take a backup before"),
    Lesson("homelab", ("Before you update the router firmware, take a backup: last time it forgot every port forwarding.",
        "Take a backup before updating the router firmware, last time it forgot every port forwarding."),
        ("The file is router_2026.cfg.", "The button hides under Tools.", "There were 23 forwardings."),
        "Which file holds the router's settings?", "router_2026.cfg", "Take a backup before"),
    Lesson("homelab", ("Always take a backup before updating the NAS; it refuses to go back to the old version.",
        "Before updating the NAS, always take a backup, it refuses to go back to the old version."),
        ("It needs 310 GB.", "The release notes say so.", "Version 7 broke the photo index.", "It takes 3 hours."),
        "How much room does the backup of the NAS need?", "310 GB", "Take a backup before"),
    Lesson("research", ("Normalise the embeddings before clustering, otherwise long documents dominate every cluster.",
        "Long documents dominate every cluster unless the embeddings are normalised before clustering.",
        "Clusters get taken over by long docs if you forget to normalise the embeddings first."),
        ("The silhouette score rose to 0.41.", "Centering them made it worse.", "Lena's notebook does it in cell 12.", "float16 was precise enough."),
        "To what did the silhouette score rise after normalising?", "0.41"),
    Lesson("research", ("Fix the random seed in the data loader too, setting it in the training script alone is not reproducible.",
        "Setting the random seed in the training script alone is not reproducible, fix it in the data loader too."),
        ("Use worker_init_fn.", "Two runs differed by 1.8 points.", "Augmentation is what draws the numbers.", "The seed is 1234 in all configs."),
        "By how much did two runs differ without a seed in the data loader?", "1.8 points"),
    Lesson("research", ("Evaluation must use the held-out split by author, a random split leaks style and inflates accuracy.",
        "A random split leaks style and inflates accuracy, so evaluation must use the held-out split by author."),
        ("Accuracy fell from 94% to 81%.", "The split file is splits/by_author_v3.json.", "Reviewer 2 asked for exactly this.", "There are 312 authors."),
        "How many authors are in the held-out split?", "312"),
    Lesson("research", ("Save a checkpoint every thousand steps, because the cluster preempts long jobs without warning.",
        "Because the cluster preempts long jobs without warning, save a checkpoint every thousand steps.",
        "Long jobs get preempted on the cluster out of the blue. Checkpoint every 1000 steps."),
        ("Jobs over 8 hours are hit most.", "Keep only the last 3.", "Resuming needs the optimizer state.", "The quota is 500 GB.", "SIGTERM comes 30 seconds before."),
        "How long before preemption does SIGTERM come?", "30 seconds"),
    Lesson("research", ("Run three seeds before reporting a gain on the dev set, the first gain was noise.",
        "Before reporting a gain on the dev set, run three seeds: the first gain was noise."),
        ("The spread was 0.9 points.", "Priya has a script for it.", "It adds 5 hours a model."),
        "How large was the spread between seeds on the dev set?", "0.9 points", "Run three seeds before"),
    Lesson("research", ("Before choosing a learning rate, run three seeds: one lucky seed misled us.",
        "Run three seeds before choosing a learning rate, one lucky seed misled us."),
        ("The lucky one was seed 17.", "The sweep is in sweeps/lr.yaml.", "Warm-up was the same in all runs."),
        "Which seed was the lucky one?", "17", "Run three seeds before"),
    Lesson("research", ("Run three seeds before dropping a feature, single runs differ by two points.",
        "Before dropping a feature run three seeds, single runs differ by two points."),
        ("The length feature came back that way.", "The table is in notes/ablation.md.", "Tomas counts 11 features now."),
        "In which file is the ablation table?", "notes/ablation.md", "Run three seeds before"),
    Lesson("assistant", ("Ask before booking travel, the calendar often hides private appointments on those days.",
        "The calendar often hides private appointments, so ask before booking travel on those days.",
        "Don't book trips without asking, there may be private appointments that the calendar doesn't show."),
        ("Trains are preferred under 5 hours.", "The loyalty number is in the vault.", "Aisle seats only.", "The March trip collided with a school concert."),
        "Up to how many hours are trains preferred?", "5 hours"),
    Lesson("assistant", ("Summaries for the morning briefing should be short bullet points without any greeting.",
        "Short bullet points without any greeting are what the morning briefing summaries should be."),
        ("At most 7 bullets.", "Weather comes first.", "No emojis.", "It is read at 06:45 on the phone."),
        "At most how many bullets should the morning briefing have?", "7 bullets"),
    Lesson("assistant", ("Reply to the landlord only in writing and keep a copy of every letter in the documents folder.",
        "Keep a copy of every letter in the documents folder and reply to the landlord only in writing.",
        "Everything to the landlord in writing, and a copy into the documents folder."),
        ("The heating complaint is from 12 January.", "The folder is Documents/Flat.", "Phone calls were denied later on."),
        "In which folder are the letters to the landlord kept?", "Documents/Flat"),
    Lesson("assistant", ("Invoices from the tax advisor go to the accounting inbox, not to the private mail address.",
        "The accounting inbox, not the private mail address, is where invoices from the tax advisor go."),
        ("They arrive on the 3rd.", "The subject always starts with RE-2026.", "Pay within 14 days.", "One was paid twice in February."),
        "Within how many days must the tax advisor's invoices be paid?", "14 days"),
    Lesson("assistant", ("Never move the piano lesson on Wednesday, the teacher has no other free hour this term.",
        "The teacher has no other free hour this term, so never move the piano lesson on Wednesday."),
        ("It starts at 16:30.", "The bus is line 12.", "The term ends on 2026-06-26."),
        "When does the piano lesson start?", "16:30"),
    Lesson("assistant", ("Order the cat's special food two weeks ahead, the shop is often out of stock of the special food.",
        "The shop is often out of stock, so order the cat's special food two weeks ahead.",
        "The cat's special food tends to be sold out, so place the order two weeks before it's needed."),
        ("It is the renal diet in 400 g tins.", "Zooplaza delivers within 4 days.", "The vet is Dr. Okafor.", "She refuses the fish flavour."),
        "Who is the cat's vet?", "Okafor"),
    Lesson("assistant", ("Before calls with the Tokyo team check the time difference, it changes when daylight saving starts here.",
        "Check the time difference before calls with the Tokyo team, it changes when daylight saving starts here."),
        ("Japan has no daylight saving.", "In summer it is 13 hours.", "Kenji prefers 20:00 our time.", "The invite was wrong on 2026-03-09."),
        "Which time does Kenji prefer for calls?", "20:00"),
)  # fmt: skip

PREFIXES = ("", "Reminder: ", "Noted again: ", "Lesson: ", "Once more: ", "", "Important: ", "For next time: ", "")


class Pair(NamedTuple):
    """Two notes of one project."""

    project: str
    one: str
    other: str


CONTRADICTIONS = (
    Pair("webshop", "The staging database of the webshop runs on port 5432.", "The staging database of the webshop runs on port 5433."),
    Pair("webshop", "The nightly price import passed its validation on the new feed.", "The nightly price import failed its validation on the new feed."),
    Pair("webshop", "Customers are allowed to change the delivery address after payment.", "Customers are not allowed to change the delivery address after payment."),
    Pair("homelab", "The sump pump in the cellar switches on at a water level of 30 cm.", "The sump pump in the cellar switches on at a water level of 30 mm."),
    Pair("homelab", "The replacement battery for the UPS arrives on 2026-03-12 in the morning.", "The replacement battery for the UPS arrives on 2026-03-19 in the morning."),
    Pair("homelab", "Automatic updates are enabled on the media server in the living room.", "Automatic updates are disabled on the media server in the living room."),
    Pair("research", "The ablation on the small corpus shows that the warm-up helps convergence before the decay.", "The ablation on the small corpus shows that the warm-up helps convergence after the decay."),
    Pair("research", "Reviews of the workshop paper are handled by Priya this month.", "Reviews of the workshop paper are handled by Tomas this month."),
    Pair("assistant", "All guests of the garden party have answered the invitation.", "Some guests of the garden party have answered the invitation."),
    Pair("assistant", "The housing application is accepted according to the portal.", "The housing application is rejected according to the portal."),
)  # fmt: skip

#: Six causes with their effects, each in several episodes that differ in figures and wording.
CAUSAL = (
    ("webshop", (
        "The deploy took 14 minutes because the build cache was cold.",
        "Cold build cache again, and the deploy took 22 minutes because of it.",
        "Since the build cache was cold, this deploy took as long as 19 minutes.",
        "Another cold build cache: because of that the deploy took 25 minutes.",
        "Deploying took 17 minutes today, because somebody had cleared and cooled the build cache.")),
    ("webshop", (
        "The search index went stale after the import, so customers saw 40 sold-out products.",
        "Customers saw sold-out products, 63 of them, because the search index went stale after an import.",
        "After the import the search index went stale and 25 sold-out products were shown to customers.",
        "Stale search index following the import; sold-out products shown to customers: 51.")),
    ("homelab", (
        "The router overheated in the cupboard and the network was down for 35 minutes.",
        "Network down for 50 minutes because the router in the cupboard overheated once more.",
        "Overheated router in the cupboard, and therefore the network was down, this time 20 minutes.",
        "When the router overheated in its cupboard, the whole network was down for 65 minutes.")),
    ("research", (
        "Raising the learning rate to 3e-4 made the loss diverge at step 900.",
        "The loss diverged at step 1200 after raising the learning rate to 5e-4.",
        "With the learning rate raised to 4e-4 the loss began to diverge around step 1050.",
        "Diverging loss at step 700, the reason was raising the learning rate to 6e-4.",
        "We raised the learning rate to 8e-4, which made the loss diverge by step 450.")),
    ("research", (
        "The annotators disagreed on 18% of the items because the guideline left irony undefined.",
        "Because the guideline leaves irony undefined, annotators disagreed on 22% of items this round.",
        "Disagreement of the annotators on 15% of items, caused by the guideline leaving irony undefined.",
        "Annotators disagreed again, on 20% of the items; irony is still undefined in the guideline.")),
    ("assistant", (
        "The parcel went back to the depot because nobody was home at 11:20.",
        "Nobody was home at 10:45, so the parcel was taken back to the depot.",
        "Since nobody opened at 12:10, not being home, the parcel went back to the depot.",
        "Parcel back at the depot: the courier came at 09:55 and nobody was home.",
        "Courier came at 13:30 while nobody was home, and the parcel returned to the depot.",
        "The parcel is at the depot again because nobody was home when it came at 14:05.")),
)  # fmt: skip

#: Each is like the next, and the first is not like the last.
CHAIN = (
    "homelab",
    (
        "The weather station on the roof sends the rain data to the greenhouse controller.",
        "The weather station on the roof sends rain and wind data to the greenhouse controller, which closes the windows.",
        "The greenhouse controller closes the windows of the greenhouse when the weather station sends wind data.",
        "The greenhouse controller closes the windows of the greenhouse and starts the heating when it gets cold.",
    ),
)

CRITICAL = (
    ("research", "Never publish the participants' raw interviews; the consent form covers anonymised excerpts only."),
    ("research", "The encryption passphrase hint for the interview archive is known to Lena and Priya alone."),
    ("research", "The grant report is due on 2026-05-31; missing the date forfeits the second instalment."),
    (
        "research",
        "Participants may withdraw until publication, and then all of their data has to be removed from every model.",
    ),
    ("research", "The embargo on the results ends on 2026-06-15, before that nothing leaves the group."),
    ("research", "Model weights trained on the clinical corpus must stay on the hospital's own machines."),
    ("assistant", "Severe peanut allergy in the family: check every restaurant and every recipe for it."),
    ("assistant", "Blood type and the emergency contact are on the card in the hallway drawer."),
    ("assistant", "Never share the children's school or timetable with anyone outside of the family."),
    ("assistant", "The spare key is with the neighbour on the second floor, nobody else may be told."),
    ("assistant", "Insulin has to be ordered when ten doses are left, deliveries take up to a week."),
    ("assistant", "Bank transfers above 500 EUR always need a spoken confirmation first."),
)

CURATED = (
    "keep DuckDB for the sales reports, one file and no server to run",
    "customers write to support mostly between 18:00 and 21:00",
    "the supplier in Porto ships twice a month, plan stock for 20 days",
    "discount codes are case sensitive, say so on the cart page",
    "returns of shoes are three times as common as of shirts",
    "the mobile checkout is used by 68% of the customers",
    "the old blog stays online because it brings a third of the visitors",
    "Marco decides about prices, Dana about pictures",
    "the warehouse door code changes on the first of the month",
    "gift wrapping is offered from November to January only",
    "the newsletter goes out on Thursday, open rates are best then",
    "label printers need the 62 mm roll, the wide one jams",
)
TEMPORARY = (
    "staging password rotated, tell Dana",
    "waiting for a call back from the courier",
    "the test shop shows a banner until tomorrow",
    "coffee machine in the office is broken",
    "Marco is on the train until noon",
    "two tabs with the analytics are still open",
    "remember to close the draft order 5512 after lunch",
    "the build queue is long this morning",
    "the office Wi-Fi is slow today, use the cable",
    "parking spot 14 is taken by the roofers this week",
    "ask for the invoice copy when the line is free",
    "the demo data set is loaded in the second tab",
)
SECRETS = (
    "The old gateway key was sk-ant-demo-000000000000000000000000notreal and has been revoked.",
    "Deploy token for the mirror: ghp_DemoOnly000000000000000000000000000000, expires in April.",
    "Test login for the shop is dana@example.com with password: demo-Only-12345!",
)

PEOPLE = ("Dana", "Marco", "Lena", "Priya", "Tomas", "Kenji", "Aisha", "Ruben", "Ines", "Oskar", "Mila", "Jonas")
#: What people did on plain days, by project; combined with a reason each, no two alike.
DOINGS = {
    "webshop": (
        "moved the banner with the spring sale above the product list", "asked for a filter by fabric in the catalogue",
        "translated the size chart into Portuguese", "found a typo in the terms of delivery",
        "compared three providers of parcel tracking", "drew a new icon for the wish list",
        "measured how long the basket page needs on slow phones", "collected customer questions about gift cards",
        "wrote alt texts for the winter collection", "tried the new address completion in the checkout form",
        "sorted the returns of the last fortnight by colour", "renamed the categories for hiking gear",
        "photographed the linen shirts on the roof terrace", "set up a survey about the packaging material",
        "spoke with the printer about recycled boxes", "checked the tax rates for orders from Norway",
        "removed the chat bubble from the landing page", "planned the stand at the craft market in May",
        "counted the visitors who came through the podcast", "drafted the story behind the wool blankets",
        "repaired the link from the magazine article", "scheduled the inventory of the back room",
    ),
    "homelab": (
        "labelled all patch cables behind the rack", "replaced the fan of the old mini computer",
        "wrote down the wiring of the garden lights", "moved the music collection to the second shelf disk",
        "tested the smoke detectors on the upper floor", "set the thermostat schedule for the guest room",
        "drew a floor plan with all motion sensors", "cleaned the contacts of the rain gauge",
        "tried a dashboard for the greenhouse humidity", "printed a bracket for the wall tablet",
        "compared quiet switches for the study", "wired a button for the garage door",
        "measured the standby draw of the amplifier", "set up a calendar for the rubbish collection",
        "tuned the wake-up light in the bedroom", "put the weather station on a longer pole",
        "replaced the keypad at the garden gate", "sketched an automation for the roller blinds",
        "filed the warranty papers of the heat pump", "checked the leak sensor below the dishwasher",
    ),
    "research": (
        "read the survey on retrieval with long contexts", "annotated forty dialogues about travel planning",
        "prepared the slides for the reading group", "asked the library for the scanned newspapers",
        "compared two parsers for legal contracts", "drafted the related work on memory in agents",
        "plotted the attention of the second layer", "met the statistician about the sample size",
        "ported the scorer from the shared task", "collected counterexamples for the negation probe",
        "wrote the ethics section of the proposal", "cleaned the transcripts of the pilot study",
        "reproduced the baseline from the workshop", "built a small viewer for the error cases",
        "interviewed two teachers about feedback", "merged the glossaries of three partners",
        "looked for duplicates in the patent corpus", "summarised the panel on multilingual models",
        "listed open questions about evaluation", "tried a curriculum by sentence length",
    ),
    "assistant": (
        "booked a table at the Ethiopian restaurant", "compared hotels near the congress centre",
        "renewed the library card for the children", "found a plumber for the dripping tap",
        "collected recipes for the anniversary dinner", "planned the hike along the old railway",
        "wrote the thank-you note to the grandparents", "ordered new strings for the cello",
        "asked the school about the summer camp", "sorted the photos from the skiing trip",
        "looked up the opening hours of the registry office", "made a packing list for the weekend in Ghent",
        "reserved the community room for the birthday", "found a second-hand desk for the study",
        "cancelled the unused gym subscription", "prepared questions for the parents' evening",
        "chose a podcast for the long drive", "reminded everyone of the dentist on Tuesday",
        "searched for a tandem course in Dutch", "compared prices of bicycle helmets",
    ),
}  # fmt: skip
REASONS = (
    "because the old way confused several people", "so that it is ready before Easter",
    "after a long talk at the kitchen table", "since the previous attempt had come to nothing",
    "although the budget for it is nearly spent", "because a visitor had asked about it twice",
    "so that nobody has to search for it again", "while waiting for an answer from the office",
    "as agreed in the meeting at the beginning of the month", "because it had been on the list since autumn",
    "and will look at the result again next week", "and took notes in the shared folder",
    "which turned out to be easier than expected", "which left two questions open for later",
    "with help from a friend who has done it before", "and was quite happy with the outcome",
    "before the holidays make everything slower", "to see whether it saves any time at all",
)  # fmt: skip

#: What came of it; the second sentence of a plain day.
OUTCOMES = (
    "The draft is in the shared folder under the date, comments are welcome until the end of the week.",
    "It took most of the afternoon, mainly because the first two ideas had to be thrown away again.",
    "A photo of the result hangs on the pinboard next to the door, together with the old version.",
    "The next step is a short call with everyone involved, a date for it has yet to be found.",
    "There is a longer write-up in the notebook, with two sketches and a list of what was tried.",
    "Nobody objected so far, but the quiet ones have not been asked and should be asked soon.",
    "The remaining work is small and can be done by anyone who has an hour to spare.",
    "What is missing is a better name for it, suggestions go to the list on the fridge.",
    "The material for it came out of the drawer in the hallway and has been put back there.",
    "An earlier attempt from last summer was a good starting point and saved a lot of thinking.",
    "It is not perfect yet, the edges are rough and the colours do not match the others.",
    "The receipt is with the others in the green box, in case somebody wants the money back.",
    "Two things were learned on the way, and both are written on the card that lies beside it.",
    "If it proves itself for a month, the same will be done in the other places as well.",
    "The idea came up during a walk and was on paper the very same evening, which is rare.",
    "Whoever touches it next should read the short note on top before changing anything.",
    "It replaces the provisional solution that had been in use for much longer than intended.",
    "Everyone who saw it so far had a different opinion, so it stays the way it is for now.",
    "The list of open wishes is long, but none of them is urgent or expensive.",
)


class KnowledgeEntry(NamedTuple):
    """A title, a recommendation, and stories in which it proved right or was learned."""

    title: str
    recommendation: str
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The entry as it is written down."""
        lines = [f"Title: {self.title}", f"Recommendation: {self.recommendation}"]
        return "\n".join([*lines, "Examples:", *(f"- {story}" for story in self.examples)] if self.examples else lines)


#: By project, groups of entries; those of one group recommend the same.
KNOWLEDGE: tuple[tuple[str, tuple[KnowledgeEntry, ...]], ...] = (
    ("research", (
        KnowledgeEntry("Log the commit of every experiment", "Write the git commit into the result file of every experiment.",
            ("EXP-12: nobody could say which code gave the 84% any more.",)),
        KnowledgeEntry("Log the git commit with each experiment", "Write the git commit into each experiment's result file.",
            ("EXP-31: a rerun with other code looked like a regression.", "EXP-33: the table of February had to be redone.")),
        KnowledgeEntry("Commit hash belongs to the results", "Always store the hash of the commit beside the numbers of a run, or nobody can repeat it.",
            ("EXP-40: Tomas found the run again within a minute.",)))),
    ("research", (
        KnowledgeEntry("Pilot the questionnaire", "Try a questionnaire with three colleagues before it goes to participants.",
            ("STUDY-2: question 7 was read in two ways.",)),
        KnowledgeEntry("Pilot every questionnaire first", "Try each questionnaire with three colleagues before it goes to the participants.",
            ("STUDY-5: it took 25 minutes instead of the announced 10.",)))),
    ("research", (
        KnowledgeEntry("Deduplicate before splitting", "Remove near-duplicates from a corpus before it is split into train and test.",
            ("CORPUS-3: 4% of the test items were in the training set.",)),
        KnowledgeEntry("Leaks between train and test", "Near-duplicates have to be removed from the corpus before splitting it into train and test.",
            ("CORPUS-8: the leak made the model look three points better.",)))),
    ("research", (
        KnowledgeEntry("Name files by content", "Put the data set, the split and the date into the name of a result file.",
            ("EXP-19: results_final2.csv could not be told from results_final.csv.",)),)),
    ("research", (
        KnowledgeEntry("Ask for consent twice", "Ask participants for consent again when recordings are used for a new purpose.",
            ("STUDY-4: two participants said no the second time.",)),)),
    ("assistant", (
        KnowledgeEntry("Confirm appointments a day ahead", "Confirm every appointment with a craftsman by phone one day ahead.",
            ("HOME-4: the electrician had the wrong week.",)),
        KnowledgeEntry("Confirm craftsmen one day ahead", "Confirm each appointment with a craftsman by phone a day ahead.",
            ("HOME-9: the painter had forgotten us.",)),)),
    ("assistant", (
        KnowledgeEntry("Keep travel documents together", "Keep passports, tickets and insurance cards of a trip in one envelope.",
            ("TRIP-2: the insurance card was in the other suitcase.",)),
        KnowledgeEntry("One place for travel papers", "All papers for a journey, passports included, go into a single envelope.",
            ("TRIP-6: at the border it took two minutes.",)),)),
    ("assistant", (
        KnowledgeEntry("Birthday presents early", "Choose a present two weeks before the birthday and note the budget.",
            ("FAMILY-3: the book came three days late.",)),)),
    ("assistant", (
        KnowledgeEntry("Read contracts for notice periods", "Note the notice period of a contract in the calendar on the day of signing.",
            ("CONTRACT-1: the gym ran a year longer than wanted.",)),)),
)  # fmt: skip

#: Written on the last day, so that the demo's nights leave it for a later one; it recommends what the first group does.
LATE_ENTRY = (
    "research",
    KnowledgeEntry("Log the commit of each experiment", "Write the git commit into the result file of each experiment.",
        ("EXP-44: the reviewers asked for the exact code.",)),
)  # fmt: skip


class Telemetry(NamedTuple):
    """Lines of one form in one project: how many, a writer of one line, and lines with a value far outside."""

    project: str
    lines: int
    write: Callable[[random.Random, int], str]
    breaks: tuple[str, ...] = ()


def _around(chance: random.Random, middle: float, spread: float) -> float:
    """A value near the middle, never further off than two spreads."""
    return middle + spread * max(-2.0, min(2.0, chance.gauss(0, 1)))


TELEMETRY = (
    Telemetry("webshop", 22, lambda c, n: f"**Orders**: {round(_around(c, 84, 12))} | **Revenue**: {_around(c, 4100, 500):.2f} EUR | **Returns**: {c.randint(2, 9)}",
        ("**Orders**: 311 | **Revenue**: 15820.40 EUR | **Returns**: 4",)),
    Telemetry("webshop", 18, lambda c, n: f"Checkout suite: {398 + 2 * n} passed, {c.choice((0, 0, 0, 1, 2))} failed in {_around(c, 362, 18):.1f}s",
        ("Checkout suite: 97 passed, 318 failed in 1204.7s",)),
    Telemetry("webshop", 17, lambda c, n: f"stock_sync finished: {round(_around(c, 2260, 40))} rows, {c.randint(0, 6)} skipped, {_around(c, 41, 4):.1f} s"),
    Telemetry("webshop", 16, lambda c, n: f"HEARTBEAT_OK {c.randint(0, 23):02}:{c.choice((0, 30)):02} mail queue {c.randint(0, 12)}, tickets {c.randint(1, 9)}"),
    Telemetry("homelab", 26, lambda c, n: f"Brain: {3187 + 17 * n + c.randint(0, 9)} memories | Phi {_around(c, 0.652, 0.011):.4f}"),
    Telemetry("homelab", 20, lambda c, n: f"NAS volume 1: {_around(c, 81, 1.6):.1f}% used, {round(_around(c, 742, 30))} GB free, disk {round(_around(c, 36, 1.5))} C",
        ("NAS volume 1: 96.8% used, 118 GB free, disk 51 C",)),
    Telemetry("homelab", 18, lambda c, n: f"restic: {c.getrandbits(32) % 900 + 100} files saved, {_around(c, 2.4, 0.5):.2f} GiB added in {round(_around(c, 13, 2))} min"),
    Telemetry("homelab", 16, lambda c, n: f"[{c.randint(0, 23):02}:{c.randint(0, 59):02}] zigbee: {c.choice((42, 43, 43, 43))} devices, {c.choice((0, 0, 1))} unreachable, link quality {round(_around(c, 171, 9))}"),
    Telemetry("research", 22, lambda c, n: f"Queue: {c.randint(3, 40)} pending, {120 + 6 * n} done, {c.randint(0, 3)} failed"),
    Telemetry("research", 20, lambda c, n: f"eval: dev accuracy {_around(c, 81.2, 0.6):.1f}%, loss {_around(c, 0.512, 0.02):.3f}",
        ("eval: dev accuracy 34.7%, loss 2.871",)),
    Telemetry("research", 18, lambda c, n: f"gpu-3 {round(_around(c, 67, 4))} C, {c.randint(71, 99)}% busy, {round(_around(c, 288, 15))} W"),
    Telemetry("research", 15, lambda c, n: f"Spent today: ${_around(c, 3.1, 0.6):.2f} for {round(_around(c, 1900, 220))} calls",
        ("Spent today: $41.87 for 26113 calls",)),
    Telemetry("assistant", 18, lambda c, n: f"Inbox check at {c.randint(6, 21):02}:{c.randint(0, 59):02}: {c.randint(0, 14)} unread, {c.randint(0, 3)} flagged"),
    Telemetry("assistant", 16, lambda c, n: f"Morning briefing: {'delivered' if c.random() > 0.2 else 'delayed'}, {c.randint(4, 7)} items, weather {round(_around(c, 9, 4))} C"),
    Telemetry("assistant", 13, lambda c, n: f"Session closed: {round(_around(c, 61000, 9000))} tokens, {c.randint(11, 34)} turns, {_around(c, 0.42, 0.08):.2f} EUR",
        ("Session closed: 189400 tokens, 121 turns, 3.86 EUR",)),
)  # fmt: skip


PARAPHRASES: dict[str, tuple[tuple[str, str], ...]] = {
    "webshop": (
        ("Customers abandon the basket when shipping costs only show up on the last page.",
         "People drop out of checkout if they see the shipping fee for the first time at the very end."),
        ("The supplier in Porto no longer accepts orders by fax; use their web form.",
         "Porto supplier: fax orders aren't taken anymore, everything goes through the form on their website now."),
        ("Size 38 of the canvas sneaker runs small, so tell customers to take one size up.",
         "Canvas sneakers in 38 turn out tight. Recommend going up a size when somebody asks."),
        ("Dana wants to approve every discount code before it is published.",
         "Before it is published, Dana wants to approve each discount code."),
        ("The address validator rejects Irish postcodes although they are correct.",
         "Valid Eircodes from Ireland get refused by the address check. Two people complained in chat."),
        ("Photos taken in the afternoon light sell the knitwear better than studio shots.",
         "Knitwear does better with pictures shot in natural afternoon light than with the ones from the studio."),
        ("The carrier loses parcels that are booked after the Friday pickup.",
         "The carrier loses parcels booked after Friday's pickup. Two of them were never found."),
        ("Gift cards cannot be combined with a sale price; the payment module rejects it.",
         "You can't pay for reduced items with a gift card, the payment module turns it down."),
        ("Our reviews widget slows down the product page on old phones.",
         "On older mobiles the product page is sluggish, and the culprit is the widget with the reviews."),
        ("Wool blankets sell out in October, so reorder them in August already.",
         "Blankets (wool) are gone by October every year. Place the reorder back in August."),
        ("The accountant needs the VAT report as a PDF, one file per country.",
         "VAT report for the accountant: separate PDF for each country, nothing else works for her."),
        ("Answer complaints about late parcels with the tracking link and a small voucher.",
         "When someone complains that a parcel is late, send the tracking link plus a little voucher. It calms them down."),
    ),
    "homelab": (
        ("The heat pump makes noise at night when the outside temperature falls below zero.",
         "The heat pump gets noisy at night if the outside temp falls below zero."),
        ("Guests should use the guest network because the main one exposes the printers.",
         "Put visitors on the guest Wi-Fi; on the main LAN they would see our printers."),
        ("The motion sensor in the hallway triggers when the cat walks by.",
         "Hallway motion detector fires because of the cat. Mounting it higher might help."),
        ("The media server transcodes on the CPU since the graphics driver was removed.",
         "Since we took out the graphics driver, transcoding on the media server runs on the processor."),
        ("Ripped CDs belong on the second disk, not on the system drive.",
         "Don't store the CD rips on the system drive, they go to disk two."),
        ("The garden camera loses its connection whenever the microwave is running.",
         "When the microwave is running, the garden cam loses its connection. The cable is ordered."),
        ("The washing machine's plug reports its consumption only every ten minutes.",
         "Smart plug at the washer: consumption comes in at ten minute intervals, no faster."),
        ("A power cut wipes the schedule of the old thermostat, so it has to be entered again.",
         "After an outage the old thermostat has forgotten its schedule and somebody must type it in again."),
        ("Keep the spare fuses in the red tin above the meter cabinet.",
         "Pls keep spare fuses in the red tin above the meter cabinet."),
        ("The ad blocker on the DNS server breaks the TV's streaming app.",
         "Streaming on the TV fails because our DNS-level ad blocking gets in the way. An exception would do."),
        ("The scanner needs the old SMB protocol, which the file share no longer offers.",
         "Scanning to the file share stopped working: the device speaks old SMB only, and the share doesn't anymore."),
    ),
    "research": (
        ("The second annotator labels sarcasm far more often than the first one.",
         "Annotator two sees sarcasm in many more places than annotator one does."),
        ("Batch norm hurts when the batches are tiny; group norm was stable.",
         "With very small batches we had trouble using batch normalisation, whereas group normalisation stayed stable."),
        ("The workshop accepts papers of at most eight pages without references.",
         "Page limit for the workshop paper: eight, references not counted."),
        ("Interviews in the morning give longer answers than those after lunch.",
         "Participants talk more when we interview them before noon. After lunch the answers get short."),
        ("The tokenizer splits chemical names into useless fragments.",
         "Names of chemicals are torn apart by the tokenizer, and the pieces mean nothing."),
        ("Share the raw tables with the statistician, not the aggregated ones.",
         "Send the statistician the raw tables, not the aggregated ones."),
        ("The retrieval baseline is hard to beat on questions with names in them.",
         "For queries that mention a name, plain retrieval remains a tough baseline."),
        ("The GPU partition is nearly empty on Sunday mornings.",
         "On Sunday mornings the GPU partition is almost empty."),
        ("Reviewers asked for confidence intervals in every table of results.",
         "Reviewers asked for CIs in each table of results."),
        ("Data augmentation by back-translation added noise and was dropped.",
         "We gave up back-translating for augmentation: it brought more noise than anything else."),
        ("The archive's scans before the war are in Gothic type and need another OCR model.",
         "Pre-war scans from the archive use Gothic letters; the usual OCR can't read those, take a different model."),
    ),
    "assistant": (
        ("The dentist moved the children's appointment to the week after Easter.",
         "Kids' dentist visit got postponed, it is in the week following Easter now."),
        ("Grandmother prefers a phone call to a written message.",
         "Grandma prefers a call over a written msg."),
        ("Flights via Frankfurt are too stressful with two small children.",
         "Avoid a connection in Frankfurt when the little ones are along, it was too much stress."),
        ("The swimming course is full, but there is a waiting list.",
         "Swimming course is full, there's a waiting list though. The form is on their website."),
        ("The landlord pays for repairs of the boiler, not the tenants.",
         "Boiler repairs are the landlord's expense, we as tenants don't pay them."),
        ("Mila is lactose intolerant, so bake her cake with oat milk.",
         "For Mila's cake take oat milk. She can't have lactose."),
        ("The car insurance is cheaper if it is paid once a year.",
         "If paid once a year, the car insurance is cheaper."),
        ("The library closes early on Saturdays during the school holidays.",
         "During school holidays the library shuts earlier on Saturday. We stood in front of a locked door."),
        ("Oskar can pick up the children on Thursdays if we tell him a day ahead.",
         "Oskar can pick up the kids on Thursdays if told a day ahead."),
        ("The piano tuner needs the flat to be quiet for two hours.",
         "When the piano gets tuned, plan two hours without noise at home."),
        ("Receipts for the tax return go into the blue folder by month.",
         "Sort tax receipts by month and put them in the blue folder."),
    ),
}  # fmt: skip
