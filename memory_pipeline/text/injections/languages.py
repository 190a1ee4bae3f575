"""The plainest attempts in other languages: to discard instructions, and to assign another role.

A language consists of two pairs of word groups that must be near each other, in either grammatical order.
"""

from __future__ import annotations

#: By language: words for discarding; words that refer to the reader's instructions; the instructions; `you are from
#: now on`.
_LANGUAGES: dict[str, tuple[str, str, str, str]] = {
    "German": (r"ignorier(?:e|t|en\s+sie)?\b|vergiss|vergesst|vergessen\s+sie|missachte\w*|umgeh(?:e|t)\b|übergeh(?:e|t)\b|befolge\b",
               r"alle\w*|dein\w*|ihre|vorherig\w*|bisherig\w*|obig\w*|früher\w*|sämtlich\w*|vorangegangen\w*|die",
               r"anweisung\w*|vorgaben?|regeln|instruktion\w*|befehle?|richtlinien|anordnung\w*|systemprompt",
               r"(?:ab\s+(?:jetzt|sofort)|von\s+nun\s+an)\s+(?:bist|antwortest|sollst|musst)\s+du|du\s+bist\s+(?:ab\s+(?:jetzt|sofort)|nun|jetzt|von\s+nun\s+an)\s+ein"),
    "French": (r"ignore[rz]?|oublie[rz]?|néglige[rz]?|contourne[rz]?|ne\s+(?:suis|suivez|respecte[sz]?)\s+(?:pas|plus)",
               r"toutes|tes|vos|précédentes?|antérieures?|ci-dessus|les",
               r"instructions|consignes|règles|directives|ordres",
               r"(?:à\s+partir\s+de\s+maintenant|désormais|dorénavant)\s*,?\s*(?:tu|vous)\s+(?:es|êtes|dois|devez|agi\w+|répond\w+)"),
    "Spanish": (r"ignor[ae]\w*|olvid[ae]\w*|omite|descart[ae]|desobedece|no\s+sigas|no\s+obedezcas",
                r"tod[ao]s|tus|sus|anteriores|previas?|las|los",
                r"instrucciones|indicaciones|reglas|órdenes|directrices|normas",
                r"(?:a\s+partir\s+de\s+ahora|desde\s+ahora|de\s+ahora\s+en\s+adelante)\s*,?\s*(?:tú\s+)?(?:eres|serás|actúas|debes|vas\s+a)"),
    "Portuguese": (r"ignor[ae]\w*|esque[çc][ae]\w*|desconsider[ae]|desobedeça|não\s+siga",
                   r"tod[ao]s|suas|tuas|anteriores|prévias|as|os",
                   r"instruções|regras|orientações|diretrizes|ordens",
                   r"(?:a\s+partir\s+de\s+agora|de\s+agora\s+em\s+diante)\s*,?\s*(?:você|tu)\s+(?:é|és|será|deve|vai)"),
    "Italian": (r"ignora\w*|dimentica\w*|trascura\w*|disattendi|non\s+seguire",
                r"tutte|tue|vostre|precedenti|le|gli",
                r"istruzioni|regole|direttive|indicazioni|ordini",
                r"(?:d['’]ora\s+in\s+poi|da\s+ora\s+in\s+poi|da\s+adesso)\s*,?\s*(?:tu\s+)?(?:sei|sarai|devi|agisci|rispondi)"),
    "Dutch": (r"negeer|vergeet|omzeil|volg\s+niet", r"alle|je|jouw|uw|eerdere|vorige|bovenstaande|de",
              r"instructies|regels|opdracht\w*|aanwijzingen|richtlijnen", r"vanaf\s+nu\s+(?:ben|bent|moet|zul|antwoord)\s+(?:je|jij|u)"),
    "Polish": (r"z?ignoruj\w*|zapomnij\w*|pomiń\w*|odrzuć\w*", r"wszystkie|wszystkich|swoich|poprzedni\w*|twoje|wcześniejsz\w*|o",
               r"instrukcj\w*|polece\w*|zasad\w*|reguł\w*|wytyczn\w*", r"od\s+teraz\s+(?:jesteś|będziesz|masz|odpowiadasz)"),
    "Czech": (r"ignoruj\w*|zapomeň\w*|nedbej", r"všechn\w*|předchozí\w*|své|na", r"instrukc\w*|pokyn\w*|pravidl\w*", r"od\s+teď\s+jsi"),
    "Swedish": (r"ignorera|glöm|bortse\s+från", r"alla|tidigare|dina|de", r"instruktioner\w*|anvisningar\w*|regler\w*", r"från\s+och\s+med\s+nu\s+är\s+du"),
    "Danish": (r"ignorer|glem|se\s+bort\s+fra", r"alle|tidligere|dine|de", r"instruktioner\w*|instrukser\w*|anvisninger\w*|regler\w*", r"fra\s+nu\s+af\s+er\s+du"),
    "Turkish": (r"yok\s+say\w*|unut\w*|görmezden\s+gel\w*|dikkate\s+alma|boş\s*ver", r"tüm|bütün|önceki|sana|verilen|yukarıdaki",
                r"talimat\w*|yönerge\w*|kural\w*|komut\w*", r"(?:bundan\s+sonra|artık|şu\s+andan\s+itibaren)\s[^.\n]{0,40}(?:yapay\s+zeka|asistan)\w*"),
    "Russian": (r"(?:про)?игнорируй\w*|забудь\w*|не\s+соблюдай\w*|отбрось\w*|пренебреги\w*|не\s+следуй\w*", r"все\w*|предыдущ\w*|прежн\w*|свои\w*|твои\w*|о|эти",
                r"инструкци\w*|правил\w*|указани\w*|команд\w*|ограничени\w*", r"(?:с\s+этого\s+момента|отныне|теперь)\s*,?\s*ты\b|системн\w+\s+промпт\w*"),
    "Ukrainian": (r"(?:про)?ігноруй\w*|забудь\w*|не\s+дотримуйся", r"усі\w*|всі\w*|попередн\w*|свої\w*", r"інструкці\w*|правил\w*|вказівк\w*", r"відтепер\s+ти\b"),
    "Greek": (r"αγνόησ\w*|ξέχασ\w*|παράβλεψ\w*", r"όλες|προηγούμεν\w*|σου|τις", r"οδηγίες|κανόνες|εντολές", r"από\s+(?:τώρα|εδώ)\s+και\s+(?:στο\s+εξής|πέρα)\s+είσαι"),
    "Indonesian": (r"abaikan|lupakan", r"semua|sebelumnya|di\s+atas|anda", r"instruksi|perintah|aturan|petunjuk", r"mulai\s+sekarang\s*,?\s*(?:kamu|anda)\s+adalah"),
    "Vietnamese": (r"bỏ\s+qua|quên|phớt\s+lờ", r"tất\s+cả|mọi|trước|các", r"hướng\s+dẫn|chỉ\s+dẫn|quy\s+tắc|lệnh", r"từ\s+(?:bây\s+giờ|giờ)\s*,?\s*bạn\s+là"),
    "Arabic": (r"تجاهل\w*|انس\w*|لا\s+تتبع|أهمل|اهمل", r"جميع|كل|السابقة|ال\w*", r"\w*تعليمات\w*|\w*قواعد\w*|\w*أوامر\w*|\w*توجيهات\w*", r"من\s+الآن\s+(?:فصاعدا\w*\s+)?(?:أنت|انت)"),
    "Persian": (r"نادیده\s+بگیر\w*|فراموش\s+کن\w*", r"تمام|همه|قبلی|پیشین", r"دستور\w*|قوانین|قواعد", r"از\s+این\s+به\s+بعد\s+تو"),
    "Hebrew": (r"התעלמ?ם?\w*|שכח\w*", r"כל|מכל|הקודמות|קודמות", r"\w*הוראות\w*|\w*הנחיות\w*|\w*כללים", r"מעכשיו\s+אתה"),
    "Hindi": (r"अनदेखा|अनदेखी|नज़रअंदाज़|भूल\s+जा\w*|उपेक्षा", r"सभी|पिछले|अपने|पहले|ऊपर", r"निर्देश\w*|नियम\w*|आदेश\w*", r"अब\s+से\s+(?:तुम|आप)"),
}  # fmt: skip

#: Scripts without spaces: the same pairs, in the usual order.
_UNSPACED = (
    r"(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|不要遵守|不再遵守|抛开|绕过)[^。！\n]{0,12}(?:之前|以上|先前|前面|所有|你的|原有|上述|此前)?[^。！\n]{0,8}(?:指令|指示|提示词|提示詞|规则|規則|命令|设定|限制)",
    r"(?:从现在起|从现在开始|從現在起|從現在開始|现在开始)[，,]?\s*(?:你|妳|您)\s*(?:是|将|將|要|必须|必須|扮演)|系统提示词|系統提示詞",
    r"(?:指示|命令|ルール|規則|制約|プロンプト|指令)[^。！\n]{0,12}(?:無視|忘れ(?:て|ろ|なさい)|従わ(?:ない|ず)|破棄)|システムプロンプトを",
    r"(?:今から|これから|今後|以後)[、,]?\s*(?:あなた|君|お前|きみ)は",
    r"(?:지시|명령|규칙|지침|프롬프트)[^.\n]{0,12}(?:무시|잊어|따르지\s*마|버려)|시스템\s*프롬프트를",
    r"(?:지금부터|이제부터|앞으로)\s*(?:너는|넌|당신은|당신이)",
    r"(?:ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ)[^.\n]{0,30}(?:คำสั่ง|กฎ|คำแนะนำ)",
)


def _near(shed: str, whose: str, obeyed: str) -> str:
    """Both orders of the three word groups, within a few words."""
    gap, start = r"[^.!?;\n]{0,25}", r"(?<!\w)"
    return (
        rf"(?:{start}(?:{shed}){gap}{start}(?:{whose}){gap}{start}(?:{obeyed})|"
        rf"{start}(?:{whose}){gap}{start}(?:{obeyed}){gap}(?:{shed}))"
    )


RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "tells the reader to ignore its instructions",
        (*(_near(shed, whose, obeyed) for shed, whose, obeyed, _ in _LANGUAGES.values()), *_UNSPACED),
    ),
    ("gives the reader another role", tuple(role for _, _, _, role in _LANGUAGES.values())),
    (
        "asks for the system prompt",
        (r"\bprompt\s+(?:del|do|de)\s+sist\w+|\bsystem-?prompt\s+(?:zu|aus|preis|anzeigen)|\binvite\s+système\b",),
    ),
)
