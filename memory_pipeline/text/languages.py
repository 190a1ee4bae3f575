"""The conflict guard's knowledge of languages other than English: their weekdays, negations and opposites.

The guard reads English. Of the ten other languages that agents' public workspaces use most it knows the words that turn a
statement, so that two texts that differ in one of them are kept apart and named; what else it does not read is merged
only as a normalised copy (`same_copy`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from difflib import SequenceMatcher
from functools import cache
from importlib import import_module
from typing import Literal

from memory_pipeline.text.days import DAYS_OF_WEEK, MONTHS
from memory_pipeline.text.facts import STOP_WORDS
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import normalise

#: The languages whose days and months are read: dateparser has their names, from the Unicode CLDR.
LANGUAGES = "de es pt fr it ru tr zh ja ko".split()
_NEGATIONS = frozenset(
    "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne nix net ned nit koa koan koane "
    "no nunca jamás nada nadie ningún ninguna ninguno sin tampoco "
    "não jamais ninguém nenhum nenhuma sem "
    "ne n pas rien aucun aucune sans non mai niente nulla nessuno nessun nessuna senza "
    "не нет никогда ничего никто без нельзя "
    "değil yok hiç asla".split()
)
#: Words of negation that are words of English or another language too.
_AMBIGUOUS = frozenset("no sin ne n non pas mai nada net ned nit".split())
_DAY_AND_MONTH = re.compile(
    r"(?<![\d.])(?P<day>\d{1,2})(?:[./](?P<figure>\d{1,2})[./](?P<year>\d{4})"
    r"|(?:\.|º|er)?\s+(?:de\s+)?(?P<word>[^\W\d_]{3,12})(?:\s+(?:de\s+)?(?P<years>\d{4}))?)(?!\d)"
)
_NEGATIONS_OF_CJK = "没有 不 没 未 无 非 别 勿 ません ない なかった なく 無 않 못 없 아니 비활성 미완".split()
_OPPOSITES = (
    "aktiviert:deaktiviert aktiv:inaktiv erlaubt:verboten offen:geschlossen geöffnet:geschlossen an:aus erfolgreich:"
    "erfolglos erfolgreich:fehlgeschlagen bestanden:durchgefallen vor:nach mit:ohne immer:nie mehr:weniger ja:nein "
    "vorher:nachher neu:alt hoch:niedrig angenommen:abgelehnt online:offline gültig:ungültig vollständig:unvollständig "
    "erhöht:gesenkt schneller:langsamer fertig:offen "
    "activado:desactivado activada:desactivada activadas:desactivadas activados:desactivados abierto:cerrado "
    "abierta:cerrada permitido:prohibido antes:después con:sin siempre:nunca más:menos sí:no éxito:error falló:funcionó "
    "aceptado:rechazado aceptada:rechazada habilitado:deshabilitado nuevo:viejo alto:bajo válido:inválido "
    "ativado:desativado ativada:desativada ativadas:desativadas ativados:desativados aberto:fechado aberta:fechada "
    "permitido:proibido depois:antes com:sem sempre:nunca mais:menos sim:não falhou:funcionou aceito:recusado "
    "sucesso:falha novo:velho "
    "activé:désactivé activée:désactivée activées:désactivées activés:désactivés ouvert:fermé ouverte:fermée "
    "autorisé:interdit avant:après avec:sans toujours:jamais plus:moins oui:non réussi:échoué accepté:refusé "
    "acceptée:refusée nouveau:ancien valide:invalide "
    "attivato:disattivato attivata:disattivata attivati:disattivati attivate:disattivate aperto:chiuso aperta:chiusa "
    "permesso:vietato prima:dopo con:senza sempre:mai più:meno sì:no riuscito:fallito accettato:rifiutato "
    "accettata:rifiutata nuovo:vecchio valido:invalido "
    "включено:отключено включены:отключены включен:отключен включён:выключен включено:выключено включены:выключены "
    "открыт:закрыт открыта:закрыта открыто:закрыто открытой:закрытой открытым:закрытым разрешено:запрещено до:после "
    "всегда:никогда больше:меньше да:нет успешно:неудачно принято:отклонено принята:отклонена новый:старый "
    "açık:kapalı etkin:devredışı başarılı:başarısız önce:sonra her:hiç daima:asla evet:hayır kabul:ret yeni:eski "
    "启用:禁用 成功:失败 打开:关闭 开启:关闭 允许:禁止 之前:之后 增加:减少 接受:拒绝 在线:离线 有效:无效 通过:失败 "
    "有効:無効 成功:失敗 許可:禁止 開始:終了 以前:以後 増加:減少 承認:却下 合格:不合格 開:閉 "
    "활성화:비활성화 성공:실패 허용:금지 열림:닫힘 이전:이후 증가:감소 승인:거부 시작:종료 유효:무효 켜:꺼"
)
#: Words that only these languages have and that are in nearly every sentence of them.
FUNCTION_WORDS = (
    frozenset(
        "der das den dem ein eine einen ist sind war wurde werden und oder nicht für mit auf von zu im am bei nach "
        "el la los las una del al es está están fue y o que para por con "
        "os um uma da do dos das no na nos nas é são foi e ou em com ao à "
        "le les des du une est sont a été et ou dans sur pour avec par au aux "
        "il lo gli della di del dei nel sul è sono stato e o per con che "
        "bir ve ile için bu olarak".split()
    )
    - STOP_WORDS
    - frozenset("a no am die on as so".split())
)
_GERMAN = frozenset(
    "der die das den dem ein eine einen ist sind war wurde werden und oder nicht für mit auf von zu im am bei nach ich "
    "er sie wir es".split()
)
#: English words that are no words of the other languages.
_ENGLISH = STOP_WORDS - frozenset(
    "a am an as at do has he her his i in me more no nor on so some to was we us via per".split()
)
#: In a text of more words, one sign of another language is enough if there is no sign of English.
_FEW_WORDS = 3
_TURKISH_NOT = re.compile(r"m[ae](?=d[ıiuü])|m[ıiuü](?=yor)|m[ae](?=yacak|yecek|z\b|mış|miş)")
#: Letters of a number or an identifier are no words: `3fa9c1e`.
_WORD = re.compile(r"(?<![\w])[^\W\d_]++(?:-[^\W\d_]++)*+(?![\w])")
#: `I've`: its `ve` is no Turkish word.
_CONTRACTION = re.compile(r"(?<=[a-z])(?:n['’]t|['’](?:ve|re|ll|m))\b", re.IGNORECASE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")
_ENDS = " .!?。！？,;:，；：、*_`'\"()[]（）「」-"

_OPPOSITE_PAIRS = tuple((one, other) for one, other in (pair.split(":") for pair in _OPPOSITES.split()))


@remembered
def is_english(text: str) -> bool:
    """True if the guard reads a text: most of its letters are Latin, and its small words are not those of another
    language. A text without small words (`deploy OK`) counts as read."""
    letters = len(_LETTER.findall(text))
    if letters and len(_OTHER_SCRIPT.findall(text)) > 0.3 * letters:
        return False
    contractions = len(_CONTRACTION.findall(text))
    words = [word.lower() for word in _WORD.findall(_CONTRACTION.sub("", text) if contractions else text)]
    foreign = sum(word in FUNCTION_WORDS for word in words)
    accented = sum(not word.isascii() for word in words)
    english = contractions + sum(word in _ENGLISH for word in words)
    signs = foreign + accented
    return signs <= english or signs < (1 if english == 0 and len(words) > _FEW_WORDS else 2)


@cache
def names_of(what: Literal["weekday", "month"]) -> dict[str, int]:
    """The names of the weekdays or the months in these languages, with their numbers from 1. Of abbreviations those
    that are hardly another word."""
    numbers: dict[str, int] = {}
    for language in LANGUAGES:
        info = import_module(f"dateparser.data.date_translation_data.{language}").info
        for number, english in enumerate(DAYS_OF_WEEK if what == "weekday" else MONTHS, start=1):
            names = [name.lower() for name in info[english.lower()] if name.replace("-", "").isalpha()]
            numbers |= {name: number for name in names if len(name) > 3 or len(names) == 1 or _is_whole(name, what)}
    return numbers


def _is_whole(name: str, what: str) -> bool:
    return len(name) > 1 and not name.isascii() and (what == "month" or _CJK.search(name) is not None)


def is_german(text: str) -> bool:
    """True if more of the small words of a text are German than English: German writes every noun with a capital
    letter."""
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in _GERMAN for word in words) > sum(word in _ENGLISH for word in words)


@remembered
def _copy_form(text: str) -> str:
    return " ".join(word.strip(_ENDS) for word in normalise(text).split()).strip(_ENDS)


def same_copy(one: str, other: str) -> bool:
    """True if two texts are copies but for case, marks, white space and the punctuation at the ends of words."""
    return _copy_form(one) == _copy_form(other)


def turned(one: str, other: str) -> tuple[str, str] | None:
    """The change that turns one text of another language into the other: the kind (`date`, `negation`, `opposite`) and
    the words; None if nothing known does, or both are read as English."""
    if (is_english(one) and is_english(other)) or same_copy(one, other):
        return None
    left, right = _find_own_words(one, other)
    if not left and not right:
        return None
    weekdays = [{n: name for name, n in names_of("weekday").items() if _has(side, name)} for side in (left, right)]
    if all(weekdays) and weekdays[0].keys() != weekdays[1].keys():
        return "date", " / ".join(min(names.values()) for names in weekdays)
    for a, b in _OPPOSITE_PAIRS:
        if (_has(left, a) and _has(right, b)) or (_has(left, b) and _has(right, a)):
            return "opposite", f"{a} / {b}"
    if len(left) == len(right) == 1 and _TURKISH_NOT.sub("", left[0]) == _TURKISH_NOT.sub("", right[0]):
        return "negation", f"{left[0]} / {right[0]}"
    negations = [Counter(_find_negations(side)) for side in (left, right)]
    if negations[0] != negations[1]:
        return "negation", min((negations[0] - negations[1]) + (negations[1] - negations[0]))
    return None


def _find_own_words(one: str, other: str) -> tuple[list[str], list[str]]:
    """The words of each text that the other one has not; of a script without spaces the differing parts, each with
    two characters on both sides."""
    left, right = _copy_form(one), _copy_form(other)
    if _CJK.search(left + right):
        parts = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        runs = [
            (left[max(0, i - 2) : j + 2], right[max(0, k - 2) : m + 2]) for tag, i, j, k, m in parts if tag != "equal"
        ]
        return [part for part, _ in runs], [part for _, part in runs]
    mine, theirs = (Counter(_WORD.findall(text)) for text in (left, right))
    return list((mine - theirs).elements()), list((theirs - mine).elements())


def _has(words: list[str], wanted: str) -> bool:
    return any(wanted in word for word in words) if _CJK.search(wanted) else wanted in words


def _find_negations(words: list[str]) -> list[str]:
    negations = [word for word in words if word in _NEGATIONS]
    return negations + [sign for word in words if _CJK.search(word) for sign in _NEGATIONS_OF_CJK if sign in word]


def negates(text: str) -> bool:
    """True if a text has a word of negation of one of these languages."""
    words = {word.lower() for word in _WORD.findall(text)} & _NEGATIONS - {"n"}
    if words - _AMBIGUOUS or any(sign in text for sign in _NEGATIONS_OF_CJK):
        return True
    return bool(words) and not is_english(text)


def with_iso_days(text: str, days: Iterable[date]) -> str:
    """A text in which days of those given are written as `2026-03-05`, whichever of these languages names their month, and
    also where they are figures alone (`5.3.2026`)."""
    known = {(day.day, day.month): day for day in days}

    def iso(match: re.Match[str]) -> str:
        month = int(match["figure"]) if match["figure"] else names_of("month").get((match["word"] or "").lower(), 0)
        day = known.get((int(match["day"]), month))
        year = match["year"] or match["years"]
        return match.group() if day is None or (year and int(year) != day.year) else f"{day}"

    return _DAY_AND_MONTH.sub(iso, text)
