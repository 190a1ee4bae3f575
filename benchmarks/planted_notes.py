"""Notes as agents and their users write them, and pairs in which one person says the same in other words."""

NOTES = tuple("""
The staging database moved to db2.internal last week; connect on port 6543 and use the read replica for reports.
Dana prefers short stand-up summaries: three bullets at most, no greeting, and links only if something is broken.
If the payment webhook returns 409, do not retry it, because the order was already booked by the first call.
The invoice export must run after the currency rates are updated at 06:30, otherwise yesterday's rates are used.
Marco asked for all customer e-mails in German, even if the ticket was opened in English.
Restart the ingestion worker after changing its config; it reads the file only once at startup.
The camera in the hallway loses the network when the microwave runs, so the recordings have gaps of a few minutes.
Use uv instead of pip in the research repository, because the lock file is checked in the pipeline.
The landlord accepts payments only until the third of each month and charges 15 euros for every late one.
We decided against Kafka for the event log: two producers and one consumer do not need a cluster.
The flaky test in the checkout suite depends on the time zone of the runner; set TZ to UTC before running it.
Tomatoes on the balcony need water twice a day in July, and the basil only once because it stands in the shade.
The nightly backup excludes the media folder on purpose, since the photos are mirrored to the second disk anyway.
Elena is allergic to peanuts and sesame, so check the menu before booking a restaurant for the team.
The embedding cache grows by about 300 MB a week and should be pruned when it reaches 4 GB.
Do not deploy on Fridays after 15:00 unless the on-call engineer agrees in the channel.
The lighthouse score of the landing page fell because the hero image is not compressed any more.
Customers in Austria see prices without tax when the session was started in the app.
The contract with the print shop ends on 30 September and has to be cancelled two months before.
When the scanner reports E42, clean the glass with a dry cloth and feed the page again.
The user wants to be reminded of birthdays a week before, not on the day itself.
The regression in version 3.2.1 was caused by the new date parser, which reads 03/04 as the third of April.
Keep the heating in the workshop at 14 degrees during winter, otherwise the glue does not cure.
The mobile team builds release branches on Tuesday and ships them on Thursday after the review.
Search results are cached for ten minutes, so a renamed product appears late in the shop.
The vet recommended half a tablet in the morning for Mimi until the swelling is gone.
Large uploads fail behind the office proxy because it closes connections after 60 seconds.
The tax adviser needs the travel receipts by the tenth of the following month as one PDF file.
Never log the request body of the login endpoint; it contains the password in plain text.
The model answers better when the examples come before the instructions and are numbered.
Ingrid keeps the spare key of the cabin under the second flower pot on the left side.
Rotating the API key of the map service requires a redeploy of the frontend and the worker.
The annotators disagree mostly about sarcasm, so the guideline got a page of examples for it.
Printing from Linux works only with the PCL driver; the PostScript one cuts the right margin.
The staging certificate expired because the renewal job ran without access to the DNS zone.
The kids have swimming lessons on Wednesday at 16:45 and need the blue bag with the goggles.
A full reindex of the product search takes 50 minutes and blocks price updates meanwhile.
The accountant books cloud costs by project, so every resource needs a project label.
The fridge in the holiday flat must stay open when the power is switched off.
Feature flags older than 90 days are removed by the clean-up job unless they are marked permanent.
The loss curve is smoother with a warm-up of 500 steps and a cosine decay afterwards.
Yuki reviews database migrations, and Omar everything that touches the payment service.
The garage door opens by itself when the neighbour uses the same channel; switch to channel 7.
Telegram messages longer than 4096 characters have to be split before they are sent.
The train to the airport leaves from platform 3 at 07:12 and takes 38 minutes.
Users with a screen reader cannot close the cookie banner because the button has no label.
The dataset contains duplicates of 812 articles that were scraped twice under different addresses.
Set the swap size to 8 GB on the build machine, or linking the browser tests runs out of memory.
The gardener comes every second Monday and needs the side gate unlocked before eight.
The queue consumer acknowledges messages before the database commit, so a crash loses them.
Our wifi guest password changes on the first day of every quarter and is printed at the reception.
The thermostat app shows wrong values after a firmware update until it is paired again.
Quotes for the kitchen: the local carpenter wants 7,400 euros, the furniture store 5,900 without installation.
Backfilling more than a month at once exceeds the rate limit of the weather service.
The assistant should answer in the language of the question and keep code comments in English.
The legal team has to approve every text about prices before it is published on the website.
The bike needs a new chain after 3,000 kilometres; the last one was mounted in March.
The retry policy of the mailer is three attempts with a pause of 20 seconds in between.
If the vacuum robot stops under the sofa, lift it out and start it from the hallway.
The quarterly report is due on the fifth working day, and the draft goes to Lucia two days earlier.
""".strip().split("\n"))  # fmt: skip

PARAPHRASES = tuple(
    (one, other)
    for one, other in (
        line.split(" || ")
        for line in """
Restart the mail server after you change its certificate. || After changing the certificate of the mail server, restart it.
The team meets every Tuesday at 10:00 in the small room. || Each Tuesday at 10:00 the team has its meeting in the small room.
Always run the linter before you push to the main branch. || Before pushing to the main branch, always run the linter.
The build fails if the cache directory is missing. || If the cache directory does not exist, the build fails.
Dana likes summaries in bullet points. || Dana prefers summaries as bullet points.
Use the staging account to test payments. || For testing payments, use the staging account.
The import is slow because the index is rebuilt for each row. || Because the index gets rebuilt for every row, the import is slow.
Backups are kept for 30 days. || We keep backups for 30 days.
The printer needs a restart when it shows error 12. || When error 12 is shown by the printer, it needs a restart.
Water the orchids once a week with rain water. || Once a week, give the orchids rain water.
The API returns 429 when more than 60 requests a minute are sent. || If you send more than 60 requests a minute, the API returns 429.
Ask Priya before changing the pricing table. || The pricing table must not be changed without asking Priya.
Customers complained about slow checkout on mobile phones. || There were complaints from customers about the slow checkout on mobile phones.
Set the timezone of the server to UTC. || The server's timezone must be set to UTC.
The heating turns off at 22:00 on weekdays. || On weekdays the heating is switched off at 22:00.
Do not commit generated files. || Generated files should never be committed.
The export contains only active customers. || Only active customers are contained in the export.
Tomas owns the billing service. || The billing service is owned by Tomas.
The night train to Vienna leaves at 21:40. || At 21:40 the night train to Vienna departs.
Disk usage above 90 percent triggers an alert. || An alert is triggered when disk usage is above 90%.
The model was trained on 40,000 labelled tickets. || 40,000 labelled tickets were used to train the model.
Write tests first when fixing a bug. || When you fix a bug, write the tests first.
The guest wifi is switched off at night. || At night, the guest wifi is turned off.
Keep secrets in the vault, not in the repository. || Secrets belong into the vault and not into the repository.
""".strip().split("\n")
    )
)  # fmt: skip
