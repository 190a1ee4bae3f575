"""What a human says about himself or herself: facts, preferences, and how he or she feels."""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import ADVERBS, IM, MOMENT, WERE, form, stated
from memory_pipeline.conversations.own_words import Said

#: What people are, by trade or by nature.
ROLE_WORDS = (
    r"nurse|chef|cook|pilot|student|vegetarian|vegan|pescatarian|mum|mom|dad|father|mother|parent|single (?:mum|mom|dad|parent)|"
    r"widow(?:er)?|clerk|coach|surgeon|vet|veterinarian|judge|priest|monk|nun|mechanic|freelancer|intern|postdoc|"
    r"undergrad|undergraduate|graduate|grad|introvert|extrovert|night owl|early bird|morning person|native speaker|"
    r"citizen|smoker|non-smoker|grandmother|grandfather|grandma|grandpa|twin|only child|data scientist|scientist|"
    r"architect|accountant|consultant|assistant|technician|journalist|artist|dentist|therapist|pharmacist|musician|"
    r"pianist|guitarist|librarian|electrician|physician|politician|engineer|developer|programmer|designer|teacher|"
    r"professor|lecturer|lawyer|solicitor|barrister|doctor|plumber|carpenter|painter|writer|author|editor|translator|"
    r"interpreter|photographer|farmer|baker|butcher|driver|manager|director|researcher|analyst|founder|owner|co-founder|"
    r"officer|soldier|firefighter|paramedic|midwife|carer|social worker|worker|waiter|waitress|bartender|barista|"
    r"salesperson|salesman|cashier|secretary|receptionist|contractor|entrepreneur|marketer|recruiter|tester|admin|"
    r"administrator|physicist|chemist|biologist|mathematician|historian|economist|psychologist|linguist|statistician|"
    r"landlord|tenant|homeowner|pensioner|veteran|immigrant|expat|refugee|cyclist|runner|diabetic|beginner|newbie|"
    r"trainer|tutor|instructor|gardener|florist|hairdresser|tailor|singer|dancer|actor|actress|illustrator|"
    r"product manager|project manager|tech lead|team lead|lead|sysadmin|devops engineer|phd student|phd candidate|"
    r"maths teacher|math teacher|sophomore|freshman|senior|junior|pupil|apprentice|trainee|volunteer"
)
_STATES = (
    r"allergic to \w|(?:lactose|gluten|histamine)[- ]intolerant|intolerant (?:to|of) \w|vegan\b|vegetarian\b|pescatarian\b|"
    r"diabetic\b|coeliac\b|celiac\b|dyslexic\b|colou?r[- ]?blind\b|left-handed\b|right-handed\b|deaf\b|autistic\b|"
    r"pregnant\b|single(?=\s*(?:[,.;!]|$|and\b|again\b))|married\b(?! to (?:this|that|the|any|it|my)\b)|divorced\b|widowed\b|engaged to\b|retired\b|unemployed\b|self-employed\b|bilingual\b|"
    r"trilingual\b|short-sighted\b|near-?sighted\b|gay\b|an only child\b|the (?:oldest|youngest|eldest) of\b|"
    r"(?:half[- ])?(?:german|dutch|french|spanish|italian|polish|irish|scottish|welsh|english|british|american|canadian|"
    r"australian|indian|chinese|japanese|korean|brazilian|mexican|portuguese|swedish|norwegian|danish|finnish|turkish|"
    r"greek|russian|ukrainian|swiss|austrian|belgian|czech|hungarian|romanian|bulgarian|nigerian|kenyan|egyptian|iranian|"
    r"pakistani|vietnamese|thai|jewish|muslim|catholic|buddhist|hindu|atheist)\b(?! (?:food|history|art))"
)
_OWNED = (
    r"kids?|child|children|daughters?|sons?|dogs?|cats?|greyhound|puppy|kitten|horses?|rabbits?|parrot|hamster|"
    r"sisters?|brothers?|siblings?|twins?|wife|husband|girlfriend|boyfriend|partner|grandchild(?:ren)?|grandkids?|"
    r"nieces?|nephews?|cars?|van|motorbike|house|flat|apartment|garden|allotment|boat|piano|degree|phd|master's|"
    r"bachelor's|asthma|diabetes|adhd|add|dyslexia|migraines|arthritis|epilepsy|insomnia|anxiety|allerg(?:y|ies)|"
    r"hay fever|high blood pressure|celiac disease|coeliac disease|stepson|stepdaughter|pets?"
)
_BUSINESS = (
    r"bakery|shop|store|startup|start-up|agency|studio|farm|blog|business|practice|café|cafe|restaurant|bar|hotel|guest house|"
    r"company|clinic|gallery|podcast|newsletter|salon|workshop|garage|brewery|vineyard|nursery|school|charity|pharmacy|choir|"
    r"bookshop|bookstore|library|team|department|lab|club|channel"
)
_CONDITIONS = (
    r"diabetes|asthma|adhd|dyslexia|migraines?|arthritis|epilepsy|insomnia|hay fever|celiac|coeliac|tinnitus|depression|"
    r"a heart condition|heart condition|nut allergy|peanut allergy|allergies|crohn's|ms|endometriosis|psoriasis|gout|"
    r"high blood pressure|anxiety|ptsd|autism|ocd|bipolar|sciatica|hypothyroidism|anaemia|anemia"
)
_FAMILY = (
    r"(?:older |younger |elder |big |little |twin |eldest |youngest |late )?(?:wife|husband|partner|girlfriend|boyfriend|"
    r"fiancée?|son|daughter|kids?|child|children|mother|father|mum|mom|dad|parents|sister|brother|twin|grandmother|"
    r"grandfather|grandma|grandpa|granny|nan|aunt|uncle|cousin|niece|nephew|dog|cat|in-laws|family)"
)
_LANGUAGES = (
    r"english|german|french|spanish|italian|portuguese|polish|dutch|welsh|irish|turkish|arabic|hebrew|russian|ukrainian|"
    r"chinese|mandarin|cantonese|japanese|korean|hindi|urdu|bengali|punjabi|tamil|vietnamese|thai|swedish|norwegian|"
    r"danish|finnish|greek|czech|hungarian|romanian|catalan|swahili|farsi|persian|esperanto"
)
#: Programs and services to which people move as well.
TOOLS = (
    r"(?:slack|teams|discord|zoom|linux|ubuntu|debian|fedora|arch|windows|macos|mac|android|ios|iphone|notion|obsidian|todoist|jira|linear|github|gitlab|bitbucket|aws|azure|gcp|google|gmail|outlook|"
    r"proton\w*|firefox|chrome|safari|brave|vim|neovim|emacs|vs ?code|vscode|cursor|python|rust|go|java|kotlin|typescript|node|react|vue|svelte|postgres\w*|mysql|mariadb|sqlite|mongo\w*|redis|docker|"
    r"podman|kubernetes|nginx|caddy|whatsapp|signal|telegram|spotify|netflix|dropbox|nextcloud|wordpress|shopify|stripe|paypal|claude|chatgpt|openai|gemini|hetzner|ovh\w*|netlify|vercel|strato|ionos|infomaniak|cloudflare|digitalocean|linode|heroku|render|supabase|firebase|zoom|webex|trello|asana|clickup|basecamp|airtable|mailchimp|mattermost|matrix|element|zulip|rocket\w*|jitsi|bitwarden|terraform|ansible|jenkins|circleci|buildkite|travis|gitea|forgejo|codeberg|hugo|astro|next|nuxt|remix|django|flask|fastapi|rails|laravel|symfony|spring|elixir|scala|swift|flutter|kafka|rabbitmq|nats|valkey|memcached|elastic\w*|opensearch|solr|clickhouse|snowflake|bigquery|duckdb|datev|lexoffice|xero|quickbooks|sap|salesforce|hubspot|zendesk|intercom|sentry|grafana|prometheus|datadog|moodle|canvas|typo3|drupal|joomla|ghost|magento|shopware|medusa|wix|squarespace|webflow|figma|canva|adobe|office|word|excel|sharepoint|onedrive|icloud|fastmail|thunderbird|skype|meet|miro|confluence|bitcoin|euro|summer time|winter time|utc|plan|team|version|option|room|line|page|level|part|chapter|q[1-4])\b"
)
#: When, or with whom, a household moves.
_MOVED_WHEN = (
    r"(?:last (?:weekend|week|month|year|spring|summer|autumn|winter|january|february|march|april|june|july|august|september|october|november|december)|(?:at|on|over) (?:the weekend|easter|christmas|new year)|"
    r"with (?:the|my|our) (?:kids|children|family|dog|cat|baby|parents)|in (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|(?:19|20)\d\d)|"
    r"(?:a|two|three|four|five|six|\d+) (?:weeks?|months?|years?) ago|for (?:my|the) (?:work|job|school|studies))"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty)"
)
_NOUN_PHRASE = r"(?:[\w'/-]+ ){0,3}"

#: What people do for years. With a certain object (`I run the tests`) it is what they do now.
_LASTING_DO = (
    r"commute|rent|teach|coach|breed|collect|manage|lead|study|write|paint|cook|bake|cycle|run|swim|sing|knit|sew|dance|climb|"
    r"volunteer|garden|farm|translate|train|sleep|wake up|get up|take (?:insulin|medication|pills)|wear|keep|grow|share|freelance|"
    r"foster|own|drive|ride|build|restore|brew|sail|surf|ski|fish|hunt|fence|box|meditate|pray|moonlight|mentor|tutor|babysit"
)
_KIN = rf"(?:my|our) {_FAMILY}"
_HABIT = (
    r"(?:lives?|works?|teach(?:es)?|runs?|owns?|plays?|stud(?:y|ies)|speaks?|goes|go|attends?|drives?|commutes?|helps?|takes?|looks? after|does|makes?|"
    r"cooks?|travels?|sails?|sings?|volunteers?|trains?|coach(?:es)?|starts? (?:school|nursery|university|college|kindergarten|a new job|work|an apprenticeship)|turns? (?:\d+|[a-z]+ (?:in|on|next|this))|"
    r"is (?:a|an|the|from|called|named|allergic|deaf|blind|retired|vegetarian|vegan|diabetic|pregnant|on (?:leave|dialysis|insulin))|has (?:a|an|two|three|asthma|diabetes|adhd|dementia|cancer|allergies|epilepsy))"
)
_FACT = form(
    rf"(?-i:[A-Z])[\w'-]+,? (?:who is )?{_KIN},? (?:\w+ )?{_HABIT}\b",
    rf"{_KIN},? (?-i:[A-Z])[\w'-]+,? (?:now |also |still |both |currently |just |usually )?{_HABIT}\b (?!me\b|you\b|care\b|fun\b|nuts\b|mad\b|sense\b|crazy\b|sure\b|it\b|that\b|this\b)",
    rf"{_KIN} (?:now |also |still |both |currently |usually )?(?:works?|lives?|teach(?:es)?|owns?|stud(?:y|ies)|commutes?|attends?|volunteers?|coach(?:es)?|is (?:a|an|the) {_NOUN_PHRASE}(?:{ROLE_WORDS})\b) ?(?!me\b|you\b|out\b|hard\b|well\b|fine\b|it\b|like\b|with\b|on (?:it|that|this))\w*",
    rf"(?-i:[A-Z])[\w'-]+ (?:is|'s) {_KIN}\b",
    rf"{_KIN}(?:'s)? (?:is|are|'s) (?:called )?(?-i:[A-Z])[\w'-]+(?=\s*(?:[,.;!]|$|and\b))",
    rf"[\w' -]{{3,40}} belongs? to {_KIN} (?-i:[A-Z])[\w'-]+",
    rf"i (?:have |'ve )?(?:just |recently )?(?:switched|changed|started|got|took|found|quit|left|lost) (?:jobs\b|careers?\b|(?:a|my) (?:new |old )?job\b|a (?:new )?(?:position|role) (?:as|at|in)|as an? {_NOUN_PHRASE}(?:{ROLE_WORDS})\b)",
    rf"{IM} (?:now |currently |usually |always |only |mostly )?(?:in|at) (?:the |my |our )?[\w'-]+(?: [\w'-]+){{0,2}} (?:on |from |every )(?:{_DAY}s?|weekdays|weekends|week)\b",
    r"i (?:also |still )?(?:sing|play|act|dance|row|fence|box|volunteer|serve|drum) (?:[\w'-]+ ){0,3}?(?:in|with|for|at) (?:the|an?|our|my) [\w' -]{0,30}?(?:choir|band|orchestra|team|club|group|league|theatre|theater|troupe|ensemble|church|brigade|quartet|squad)\b",
    r"we (?:now |currently |all |still )?live (?:in|on|near|outside|with) (?!fear\b|hope\b|the (?:moment|past|present|now|same)\b|a (?:world|time|society|bubble)\b|an? age\b|it\b|that\b|this\b|peace\b|harmony\b|interesting\b)\w+",
    rf"{_KIN} has (?-i:[A-Z])[\w'-]+",
    r"(?:i|we)(?:'ve| have)? (?:just |recently |finally )?got (?:married|divorced|engaged)\b",
    rf"(?:{IM}|{WERE}) (?:getting (?:married|divorced)|expecting (?:a|our|twins))\b",
    r"(?:i|we)(?:'ve| have)? (?:just |recently |finally )?(?:bought|adopted|got) (?:a|an|our|my) (?:[\w-]+ ){0,2}?(?:house|flat|apartment|farm|puppy|dog|cat|kitten|horse|boat|campervan)\b",
    r"i (?:only|mainly|mostly|usually|always|still) (?:use|run|code in|program in|write in|type on) (?!it\b|this\b|that\b|the same\b)\w",
    rf"we(?:'ve| have)? (?:just |recently |finally )?moved (?:here |back |over )?(?:from [\w ]{{2,30}} )?to (?!{TOOLS})(?-i:[A-Z][a-z]+)(?:[ -](?-i:[A-Z])[a-z]+){{0,2}} {_MOVED_WHEN}",
    rf"i(?:'ve| have)? (?:just |recently |finally )?moved (?:here |back |over )?(?:from [\w ]{{2,30}} )?to (?!{TOOLS})(?-i:[A-Z][a-z]+)(?:[ -](?-i:[A-Z])[a-z]+){{0,2}} {_MOVED_WHEN}",
    rf"(?:i|we)(?:'ve| have)? (?:just |recently |finally )?relocated (?:from [\w ]{{2,30}} )?to (?!{TOOLS})(?-i:[A-Z][a-z]+)(?:[ -](?-i:[A-Z])[a-z]+){{0,2}}(?=\s*(?:[.,;!]|$|last\b|in\b|with\b|over\b))",
    rf"(?:i|we)(?:'ve| have)? (?:just |recently )?moved (?:back )?in with (?:my|our) {_FAMILY}\b",
    rf"my {_FAMILY}(?: (?-i:[A-Z]\w+))? (?:has )?(?:just |recently )?turned {_NUMBER}\b(?! (?:minutes|hours|days|weeks|pages|of|into|times))",
    r"i(?:'ve| have)? (?:recently |finally |just )?(?:given up|gave up|quit|stopped) (?:smoking|drinking|gambling|eating (?:meat|fish|sugar|dairy|gluten|eggs|pork|bread)|meat|alcohol|sugar|cigarettes|coffee|dairy|gluten|caffeine|wine|beer)\b",
    r"our (?:flat|house|apartment|home|farm|cottage|garden) (?:is (?:on|in|near|at|outside|opposite|from|built|old|rented|heated)|has (?:no|a|an|two|three|four|five|six|\d)|was built|belongs to|lies) ?(?!fire\b|a mess\b|order\b|chaos\b)\w*",
    r"i retired\b",
    r"(?:i|we) (?:also |now )?have (?:twins|triplets|cats|dogs|grandchildren|chickens|hens|bees|goats|horses|no (?:children|kids|car|licence|license|siblings|pets))\b",
    r"i(?:'ve| have)? (?:just |recently |originally )?(?:moved|came|emigrated|relocated) (?:here|over|back|over here) (?:from (?-i:[A-Z])\w+|in (?:19|20)\d\d|\w+ (?:years|months|weeks) ago)",
    r"i (?:don't|do not|never) (?:drive|smoke|fly|swim|eat (?:meat|fish|pork|dairy|gluten|eggs|sugar)|drink(?: alcohol| coffee)?|own a (?:car|phone|tv)|have a (?:car|licence|license|driver's licen[cs]e|tv|smartphone)|speak (?-i:[A-Z])\w+|celebrate \w+)(?=\s*(?:[,.;!]|$|and\b|because\b|so\b|any ?more\b|at all\b))",
    rf"i work (?:only |about )?{_NUMBER} (?:days|hours|mornings|evenings|nights) (?:a|per|each|every) week\b",
    rf"i (?:don't |do not |never |only |always |usually )?work (?:on )?(?:{_DAY}s?|weekends|weekdays|mornings|afternoons|evenings|nights|from {_DAY}s?)\b",
    rf"(?:on )?(?:{_DAY}s|weekends|mornings|evenings|afternoons|sundays)(?:,)? (?:belong to|are for|are reserved for|i (?:am|'m|have|teach|train|work|play|spend)|we (?:have|spend|visit)) (?!that\b|this\b|not\b)\w",
    r"i(?:'ve| have)? (?:just |recently |finally )?(?:moved|relocated|emigrated) (?:here |back |over )?(?:from [\w ]{2,30} )?to (?!"
    + TOOLS
    + r")(?-i:[A-Z])[\w' -]{1,40}? ?(?:last|this|a (?:few )?|\w+|in) ?(?:\w+ )?(?:weeks?|months?|years?|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|\d{4})(?: ago)?\b",
    rf"i (?:currently |mostly |mainly |usually |also |still |only |normally )?(?:{_LASTING_DO}) (?!the\b|this\b|that\b|it\b|them\b|these\b|those\b|you\b|your\b|out of\b|into\b|for now|on it|to\b|"
    rf"a (?:lot|bit|few|test|script|query|loop|check|new|quick)\b|my (?:tests?|code|script|app|build|server)\b)[\w'-]+(?: [\w'-]+){{0,6}}? (?:every|each|\w+ (?:days|times|nights|hours) a|on (?:{_DAY}s|weekends)|for a living|"
    rf"since (?:19|20)\d\d|as a hobby|with my|part[- ]time|in my (?:spare|free) time|for fun|in (?-i:[A-Z])|to (?-i:[A-Z])|at (?:a|the) (?:local )?(?:school|university|college|gym|club|hospital))",
    rf"{IM} (?:turning|about to turn) \d\d\b",
    rf"by (?:trade|profession|training|education|background),? {IM} (?:an? )?\w+",
    rf"{IM} (?:an? )?\w+(?: \w+)? by (?:trade|profession|training|education)\b",
    rf"(?:i|we) have (?:an? )?{_NUMBER}[- ](?:year|month)[- ]olds?\b",
    r"my (?:surname|last name|first name|middle name|maiden name|nickname|handle|e-?mail(?: address)?|phone number|address|postcode|zip code|star sign|blood type|shoe size|nationality|mother tongue|native language|first language) (?:is|are) (?!on\b|in\b|not\b|wrong\b|mis\w+|already\b|there\b|missing\b|still\b)\w+",
    rf"{IM} {ADVERBS}(?:living|based|located) (?:in|near|at|outside|with) \w",
    rf"i {ADVERBS}live (?:now |currently |together )?(?:(?:in|near|at|outside|with|close to|just outside|by) (?!fear\b|hope\b|it\b|that\b|this\b|regret\b|peace\b|the (?:moment|past|now)\b|denial\b|a bubble\b|dread\b|constant\b|myself\b|pain\b|the fact\b|what\b)\w+|alone\b|on (?:an? (?:farm|island|boat|hill)|the (?:coast|\w+ floor|outskirts|edge of)))",
    r"i(?:'ve| have)? (?:just |recently |finally )?moved (?:here |back )?(?:from [\w ]{2,30} )?to (?-i:[A-Z])[\w ,-]{1,60}?(?:(?:with|for) (?:my|work|a job|the job|uni\w*)|in (?:19|20)\d\d|last (?:year|summer|winter|spring|autumn)|years ago)\b",
    r"i(?:'ve| have)? (?:just |recently )?moved into [\w ]{0,30}?(?:flat|house|apartment)\b",
    rf"{IM} (?:originally |actually )?from (?!now\b|the\b|here\b|my\b|this\b|that\b)\w+",
    r"i (?:come|came) from (?!the\b|this\b|that\b|a\b|an\b|work|home)\w+",
    r"my (?:full |first |last |middle |real )?name(?:'s| is) (?!on\b|in\b|not\b|at\b|spel\w+|mis\w+|wrong\b|there\b|mentioned\b|also\b|still\b|already\b|missing\b|so\b|hard\b|too\b|the\b|written\b|being\b|pronounced\b)\w+",
    r"i(?:'m| am) called (?-i:[A-Z])\w+",
    r"(?:hi|hello|hey|good \w+)[\w ]{0,20}[,!.]+ i(?:'m| am) (?-i:[A-Z][a-z]+)(?=\s*(?:[,.!]|$|and\b|from\b|nice\b))",
    r"i (?:also )?(?:often|usually|regularly) (?:cook|run|swim|cycle|walk|meditate|practi[sc]e|read|paint|draw|bake|play|travel|volunteer|garden|work out|exercise|hike|train)\b",
    r"i(?:'ve| have) been (?:learning|studying|practi[sc]ing|teaching) (?!how it\b|it\b|this\b|that\b|the (?:log|code|file|chart|docs)\w*)\w+",
    r"(?:you can |please |just )?call me (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day|maybe|back|when|if|later|tomorrow)(?-i:[A-Z][a-z]+)(?![\w'])(?! (?:back|when|if|on|at|in|tomorrow|later))",
    r"i work (?:\w+ )?(?:as an? |at (?!it\b|this\b|that\b|least\b)|for (?!hours\b|days\b|a (?:bit|while)\b|it\b)|in (?!the (?:morning|evening)\b)|"
    r"from (?:home|\w+ing)|part[- ]time|full[- ]time|nights|shifts|remotely)",
    rf"{IM} (?:currently |now |also |actually |still |just )?(?:working|employed) (?:as an?|at|for) \w",
    rf"my (?:job|profession|occupation|day job) is (?:as )?(?:an? |in (?!danger|jeopardy|doubt|trouble)|at (?!stake|risk)|with ){_NOUN_PHRASE}\w+",
    rf"{IM} (?:currently |now |also |actually |originally |basically )?(?:an?|the|your) {_NOUN_PHRASE}(?:{ROLE_WORDS})\b(?! (?:question|problem|issue|here\?|when|mistake))",
    rf"{IM} {ADVERBS}(?:severely |mildly |badly |highly |happily |recently |newly )?(?:{_STATES})",
    rf"(?:i|we)(?: (?:also |now |already |currently )?have|'ve got| got| own) (?!to\b|a (?:question|problem)\b)(?:an?|{_NUMBER}|some|severe|mild|bad|chronic) {_NOUN_PHRASE}(?:{_OWNED})(?=\s*(?:[,.;!)(&+]|$|[\u2600-\u27bf\U0001f300-\U0001faff]|(?:and|with|who|named|called|in|from|at|that|but|aged|living|on|because|so|too|as well|which|since|now|both|already|lol|btw|here)\b))",
    r"(?:i|we) have (?:severe |mild |bad |chronic )?(?:asthma|diabetes|adhd|dyslexia|migraines|arthritis|epilepsy|insomnia|hay fever|kids|children)\b",
    r"my birthday(?:'s| is) (?:on |in )?(?:the )?(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|first|second|third|fourth|christmas|new year)\w*",
    r"i was born (?:and raised )?(?:in|on) (?!the wrong|a barn|a different|another)\w+",
    rf"{IM} (?:[1-9]\d|twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?: years old\b| yrs?\b| y/?o\b|(?=(?: now)?\s*(?:[,.;!]|$))|(?= and (?:i|a|an|live|work|from|have|married|single)\b))",
    rf"i (?:also |only |can )?speak (?:fluent |a bit of |a little |some |native |basic |good )?(?:{_LANGUAGES})\b",
    rf"{IM} (?:currently |now |also )?(?:learning|studying) (?:to (?:play|cook|draw|paint|code|drive|swim)\b|how to \w+|(?:the )?(?:{_LANGUAGES}|piano|guitar|violin|cello|drums|law|medicine|"
    r"engineering|psychology|physics|maths|math|biology|chemistry|history|economics|computer science|linguistics|philosophy|nursing|architecture|programming)\b)",
    r"i (?:study|studied|graduated (?:from|in)|majored in|have (?:an? )?(?:degree|phd|master's|bachelor's) in) (?!the (?:chart|file|plan|text|map)|this|that|it\b|hard)\w+",
    rf"i(?:'ve| have) (?:been )?(?:\w+ ){{1,6}}(?:for (?:about |over |almost |nearly |more than |the (?:last|past) )?{_NUMBER} (?:years|decades|months)\b|since (?:19|20)\d\d\b)",
    rf"i (?:mainly |mostly |always |usually |normally |typically )?(?:own|drive|ride|teach) (?!a (?:lot|copy|bit|share)\b)(?:an?|my|the \w+ \w+|maths?|{_LANGUAGES}|yoga|physics|history|biology|chemistry) ?\w*",
    rf"i play (?:the )?(?:{_NOUN_PHRASE})(?:piano|guitar|violin|cello|drums|flute|bass|trumpet|saxophone|football|soccer|tennis|chess|basketball|volleyball|badminton|hockey|cricket|rugby|golf|handball)\b",
    rf"my {_FAMILY}(?:'s name)?(?: (?-i:[A-Z]\w+))?(?:'s| is|, \w+, is) (?:called|named|an? {_NOUN_PHRASE}(?:{ROLE_WORDS})\b|{_NUMBER}\b(?! (?:minutes|hours|days|weeks|of|%))|from (?-i:[A-Z])|allergic to|{_STATES})",
    rf"my {_FAMILY}'s name(?:'s| is) \w+",
    rf"my {_FAMILY} (?:also |both |now |still |currently )?(?:lives?|works? (?:as|at|for|in)|was born|were born|stud(?:ies|y) \w+|speaks? (?:{_LANGUAGES})|turn(?:s|ed) \d+|has (?:asthma|diabetes|adhd|dementia|cancer|allergies))\b",
    rf"i (?:also |now |currently )?(?:run|co-run|founded|own|manage) (?:an?|my own|our) {_NOUN_PHRASE}(?:{_BUSINESS})\b",
    rf"(?:i|we)(?:'ve got| have got| have| got| also have| suffer from| was diagnosed with|'ve been diagnosed with) (?:an? )?(?:severe |mild |bad |chronic |type (?:1|2|one|two) )?(?:{_CONDITIONS})\b",
    rf"my {_FAMILY} (?:(?:has |have )?(?:just |recently |finally |now |also )*(?:started|finished) (?:school|university|uni|college|nursery|kindergarten|a new job|primary|secondary|high school)|goes to|attends|is in (?:year|grade|\w+ (?:grade|year))|graduated|retired|passed away|died|got (?:married|divorced)|plays? the)\b",
    r"we(?:'re| are) (?:a (?:family|household|couple|team) of \w+|married|vegetarians|vegans|a same-sex couple|foster parents|expecting (?:a|our|twins))\b",
    r"i (?:grew up|was raised|spent my childhood) (?:in|on|near) \w+",
    rf"{IM} (?:currently |still |now )?on (?:(?:parental|maternity|paternity|sick|medical|unpaid) leave|(?:a )?sabbatical|medication|insulin|disability|dialysis|a gluten)\b",
    rf"my {_FAMILY}'s (?:birthday|anniversary|\d+(?:st|nd|rd|th)(?: birthday)?) is (?:on|in) \w+",
    r"(?:our|my) (?:wedding )?anniversary is (?:on|in) \w+",
    rf"as an? {_NOUN_PHRASE}(?:{ROLE_WORDS}),? (?:i|we)\b",
    rf"{IM} in (?:my (?:twenties|thirties|forties|fifties|sixties|seventies|(?:first|second|third|fourth|final|last) (?:year|semester))|(?:marketing|sales|hr|finance|retail|logistics|academia|publishing|insurance|real estate)\b)",
    r"i (?:did|finished|completed|got|have) my (?:phd|degree|master's|masters|bachelor's|apprenticeship|training) (?:at|in|from) \w+",
    r"i (?:also )?(?:volunteer|sing|coach|moonlight) (?:at|for|with|in|as) \w+",
    r"my time ?zone is (?:currently |now |still )?(?:(?-i:[A-Z]{2,5})\b|utc|gmt|[ce]e?s?t\b|p[sd]?t\b|\w+/\w+|(?:central|eastern|pacific|mountain|british) )",
    rf"i(?:'ve| have)? (?:got )?{_NUMBER} years of experience\b",
    r"i wear (?:[\w-]+ ){0,2}?(?:glasses|hearing aids?|contacts|contact lenses|braces|a pacemaker|an insulin pump|a prosthesis|a wig|a hijab|a kippah)\b",
    r"every (?:day|morning|evening|week|weekend|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?,? i (?:go|run|swim|cycle|walk|meditate|practi[sc]e|cook|read|play|train|write|bake|paint|draw|teach)\b",
    r"i (?:go|run|swim|cycle|walk|meditate|practi[sc]e|train|write|bake|paint|draw|spend) (?:[\w-]+ ){0,7}?(?:every|each) (?:single )?(?:day|morning|evening|week|weekend|night|other day|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
)
_NO_FACT = re.compile(
    r"\b(?:used to|no longer|not anymore|years ago i|a bit(?! of)|metaphor|like an? (?:old|big|small)|in another life|(?:in|of) (?:the|a|my|this) (?:dream|game|story|novel|film|movie|play|series))\b|\bof my own\b"
    r"|\b(?:the happiest|the luckiest|happy|lucky|proud|terrible|horrible|bad|good|huge|big|real|such a|total) (?:man|person|fan)\b",
    re.IGNORECASE,
)

_VAGUE_OBJECT = (
    r"(?!it\b|this\b|that\b|these\b|those\b|them\b|him\b|her\b|you\b|your\b|how\b|what\b|when\b|where\b|why\b|one\b|"
    r"to (?:think|believe|say|see|hear|know|ask|bother|admit|break|interrupt|nag|complain|be|have|help|share|talk|chat)\b|"
    r"the (?!(?!one\b|ones\b|idea\b|way\b|part\b|thing\b|first\b|second\b|last\b|version\b|draft\b|option\b)\w+ (?:of|in|at|from|by)\b|outdoors|sea|sun|rain|snow|beach|mountains?|ocean|countryside|cold|heat|theatre|cinema|forest|smell|sound|feeling)|"
    r"all (?:of )?(?:it|this|that|these)|both\b|everything about (?:it|this|that)|my (?:new|old)\b|our\b|the way\b|him\b|a lot\b|a new\b|being (?:called|able)\b|so\b|and\b|or\b|about\b|"
    r"because\b|very\b|too\b|even\b|myself\b|option\b|version\b|variant\b|plan [a-z0-9]\b|number\b|proposal\b|draft\b|yours\b|working with you|talking (?:to|with) you|chatting with you|each other\b|either\b|neither\b|any of\b|an? (?:table|word|copy|hug|drink)\b)"
)
_PREFERENCE = form(
    rf"i {ADVERBS}(?:prefer|like|love|enjoy|adore|hate|dislike|detest|despise|loathe) {_VAGUE_OBJECT}\w",
    rf"i {ADVERBS}prefer (?:the |an? )[\w'-]+(?: [\w'-]+)? (?:on|in|for|with|at|over) (?!the\b|this\b|that\b|these\b|those\b|it\b|now\b|today\b)(?:my |our )?[\w'-]+s(?=\s*(?:[,.;!]|$|and\b|because\b|so\b))",
    r"i (?:really |just |absolutely )*(?:hate|love|dislike|can't stand) it when (?:people|someone|somebody|others|anyone|anybody|strangers|they) \w",
    rf"i {ADVERBS}(?:prefer|like|love|enjoy|hate|dislike) (?:the )?[\w' -]{{2,40}}? (?:more|better|less) than (?!you\b|i\b|me\b|ever\b|anything\b|that\b|this\b|it\b)\w",
    rf"i {ADVERBS}(?:don'?t|do not|never) {ADVERBS}(?:like|enjoy|love|drink|eat) {_VAGUE_OBJECT}\w",
    rf"i (?:myself |really |just |absolutely |personally )*(?:can't|cannot|cant|can not) (?:stand|bear) {_VAGUE_OBJECT}\w",
    rf"{IM} (?:not )?{ADVERBS}(?:an? )?(?:big |huge |great |massive |real |total )*(?:fan of|lover of) {_VAGUE_OBJECT}\w",
    rf"{IM} (?:an? )?(?:big |huge |real |total )?(?!changed\b|different\b|better\b|new\b|terrible\b|bad\b|good\b|horrible\b|nice\b|busy\b|third\b|single\b|sick\b|kind\b|happy\b|sad\b|curious\b|grown\b)(?:\w+ )(?:lover|enthusiast|addict|buff|person)\b(?! (?:who|i|on|in charge|for this))",
    rf"{IM} (?:not )?{ADVERBS}(?:into|fond of|keen on|crazy about|passionate about|obsessed with|partial to) {_VAGUE_OBJECT}\w",
    r"my (?:all[- ]time |absolute |personal |own )*favou?rites? (?!part\b|bit\b|moment\b|scene\b|line\b|section\b|option\b|of (?:these|the|those|your)\b|one\b)(?:[\w-]+ ){0,4}?(?:is still|are still|remains?|is|are|was always|has always been|will always be) (?!it\b|this\b|that\b|when\b|what\b|not\b)\w",
    r"(?:i'd|i would|id) (?:much |always )?rather (?!not (?:say|talk|discuss|share)\b|you\b|it\b|be\b|have it\b)\w",
    r"(?:i'd|i would|id) (?:much |really |always |strongly )?prefer (?!you\b|it if\b|that you\b|if\b|not to (?:say|talk|discuss|share)|this\b|that\b|it\b)\w",
    rf"we (?:all |both |really |absolutely |also )*(?:love|adore|enjoy|prefer|hate|dislike) {_VAGUE_OBJECT}\w",
    rf"(?:not |never (?:been )?|big |huge |massive )+(?:an? )?(?:really )?(?:big |huge |great |much of a )?fan of {_VAGUE_OBJECT}\w",
    r"[\w' -]{2,40} (?:is|are|isn't|aren't) (?:really |just |definitely )?(?:not |never )?(?:really |exactly )?my (?:thing|cup of tea|jam|kind of (?:thing|music|film|food|humou?r|place))\b",
    rf"i(?:'ve| have) (?:always|never|long) (?:really )?(?:loved|liked|hated|preferred|enjoyed|adored|disliked) {_VAGUE_OBJECT}\w",
    rf"i (?:always |usually )?(?:take|pick|choose|go for|order|want) (?:{_VAGUE_OBJECT}|the )[\w' -]{{2,40}} every (?:single )?time\b",
    r"[\w' -]{2,40} (?:works? best for me|suits? me (?:best|better|fine|well))\b",
    rf"{IM} (?:also |really |very |mostly |particularly |especially )*interested in (?!buying\b|this\b|that\b|it\b|your\b|you\b|seeing\b|hearing\b|knowing\b|learning (?:more|about)\b|what\b|how\b|the (?:offer|job|position|room|flat|car)\b)\w",
    r"i (?:always |only |just )?want [\w' -]{2,50}, not (?!you\b|me\b|now\b|yet\b|today\b|because\b|to\b)[\w' -]{2,30}",
    r"[\w' -]{2,30} over [\w' -]{2,30}, (?:always|any day|any time|every time|all day)\b",
    r"give me [\w' -]{2,40} over [\w' -]{2,40}\b",
    r"i(?:'d| would)? (?:always|usually|normally|generally|typically|only) (?:want|choose|pick|order|drink|eat|go for|buy|wear|listen to|cook) "
    + _VAGUE_OBJECT + r"\w",
    r"(?!this\b|that\b|it\b|these\b|those\b|which\b|he\b|she\b|they\b)[\w' -]{2,40} (?:is|are) my (?:all-time |absolute |personal )?favou?rites?\b",
)  # fmt: skip
_NO_PREFERENCE = re.compile(
    r"\b(?:would have|that idea|this idea|one or the other|no preference|the same|in (?:this|that) (?:case|sentence|one)|"
    r"how the|forecast|is always wrong)\b",
    re.IGNORECASE,
)

_FEELING = (
    r"anxious|worried(?! that the)|scared|terrified|nervous|stressed(?: out)?|overwhelmed|exhausted|burn(?:t|ed)[- ]out|frustrated|"
    r"annoyed|angry|furious|livid|mad at|upset|sad|depressed|heart-?broken|disappointed|lonely|ashamed|embarrassed|guilty|"
    r"jealous|proud|happy(?! (?:to|with|for|either way|as is|if)\b)|thrilled|excited|delighted|overjoyed|grateful|thankful|relieved|"
    r"devastated|hopeless|desperate|miserable|homesick|afraid of|over the moon|in tears|gutted|chuffed|pissed(?: off)?|"
    r"fed up|sick of|worn out|panicking|grieving|at my wits' end|shattered|heart broken|helpless|insecure|isolated|"
    r"tense|distressed|so happy|touched|moved by|melancholic|unhappy|irritated|discouraged|unmotivated|uneasy|bored with|confused about my|knackered|"
    r"close to tears|on edge|sick with worry|ecstatic|elated|humiliated|petrified|stoked|bummed(?: out)?|crushed|drained|"
    r"heartsick|glad(?! you (?:asked|like|enjoy|said|mentioned|came)\b| to (?:meet|talk|chat|hear|see|know|assist|be of))|tired of|low(?= today| lately| since|[.,!])|horrified|at the end of my tether|beside myself|on cloud nine|walking on air|mortified|dreading(?= \w)"
)
#: Feelings only where somebody says to feel so: `I'm down for pizza` and `I'm lost, where is it` are none.
_FELT = r"down|lost(?! (?:here|in the (?:code|text|docs)))|confident|torn|comfortable|empty|at ease|inspired|tired of"
_BODY = r"(?:(?:physically|mentally|emotionally|completely|totally)(?: and (?:physically|mentally|emotionally))? )?"
_EMOTION = form(
    rf"(?:{IM}|{WERE}|i(?:'ve| have) been|i was|we were|i (?:always |still |also )?get|i got|i(?:'ve| have) become|i (?:really |still |always )?feel|i felt|i'm feeling|i am feeling|i've felt|we feel|we felt|feeling|feel) (?:also )?{ADVERBS}(?:feeling |like i'm |a bit |a little )?{_BODY}(?:{_FEELING})(?![\w-])",
    rf"(?:i(?:'ve| have) been feeling|i (?:really |still |also )?feel|i felt|{IM} feeling|we feel) (?:also )?{ADVERBS}(?:a bit |a little )?(?:{_FELT})(?![\w-])",
    rf"(?:[\w' -]{{2,60}} )?(?<!can )(?<!will )(?<!may )(?<!to )(?<!could )(?<!would )(?<!might )(?:makes?|made|making|leaves?|left) me (?:feel )?{ADVERBS}(?:{_FEELING}|cry|smile so)(?![\w-])",
    rf"{ADVERBS}(?:so|really|very) (?:{_FEELING})(?![\w-])",
    r"i (?:really |still |so |terribly )*miss (?:my|her|him|them|home|having|being|the (?:old|days|kids|team|sea))\b",
    r"(?:i'm going to|i am going to|i'll|i will|i'm gonna) (?:really |so |dearly )*miss (?:my|her|him|them|you|this|the [\w' -]{2,30}|(?-i:[A-Z])\w+)(?=\s*(?:[,.;!]|$|so\b|when\b|a lot\b|very\b|terribly\b))",
    rf"{IM} (?:really |so )?(?:crying|panicking|grieving|struggling (?:a lot|badly|so much|with (?:my|the grief|anxiety|depression))|falling apart|at a loss|having a (?:hard|tough|rough) time)\b",
    r"my heart(?:'s| is) (?:pounding|breaking|racing|broken|aching|sinking|heavy|full)\b",
    r"(?:it|this|that) (?:breaks|broke) my heart",
    r"(?:it|this|that) (?:really |still |deeply )?(?:hurts?|stings?|stung) (?:me )?(?:that|when|how|so much|a lot|to (?:see|hear|know))\b",
    r"i (?:really |absolutely |still )*dread (?!to\b)\w",
    r"i (?:can't|cannot|cant) (?:stop (?:crying|worrying)|cope|take (?:it|this) any ?more|sleep because)\b",
    r"i (?:cried|have been crying|could cry|burst into tears)\b",
)  # fmt: skip


def fact_in(said: Said) -> re.Match[str] | None:
    """Where a sentence states a lasting fact about its speaker or his or her family, in the present."""
    if _NO_FACT.search(said.read):
        return None
    return stated(said, _FACT)


def preference_in(said: Said) -> re.Match[str] | None:
    """Where a sentence states what its speaker likes, dislikes or prefers in general."""
    if _NO_PREFERENCE.search(said.read):
        return None
    found = stated(said, _PREFERENCE)
    if (
        found is not None
        and re.search(r"rather|would|i'd|\bid ", found.group(), re.IGNORECASE)
        and MOMENT.search(said.read)
    ):
        return None
    return found


def emotion_in(said: Said) -> re.Match[str] | None:
    """Where a sentence states how its speaker feels."""
    return stated(said, _EMOTION)
