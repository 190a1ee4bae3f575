"""Duplicates and conflicts in the ten languages other than English that agents' public workspaces use most.

The conflicts turn a negation, an opposite or a weekday; a number is the same in every script. The duplicates are copies
with other typography, and sentences with one more sentence.
"""

#: Language, one thing that is said, and what conflicts with it: negated, the opposite, another day, another figure.
_TOLD = """
German | Das Backup der Datenbank wurde heute Nacht abgeschlossen. | Das Backup der Datenbank wurde heute Nacht nicht abgeschlossen.
German | Die automatischen Updates auf dem Server sind aktiviert. | Die automatischen Updates auf dem Server sind deaktiviert.
German | Das Treffen mit dem Steuerberater ist am Montag um zehn. | Das Treffen mit dem Steuerberater ist am Freitag um zehn.
German | Kunden dürfen die Lieferadresse nach der Zahlung ändern. | Kunden dürfen die Lieferadresse nach der Zahlung nie ändern.
German | Der Import der Preise war im letzten Lauf erfolgreich. | Der Import der Preise war im letzten Lauf erfolglos.
Spanish | La copia de seguridad terminó correctamente anoche. | La copia de seguridad no terminó correctamente anoche.
Spanish | Las actualizaciones automáticas están activadas en el servidor. | Las actualizaciones automáticas están desactivadas en el servidor.
Spanish | La reunión con el equipo de ventas es el lunes por la mañana. | La reunión con el equipo de ventas es el viernes por la mañana.
Spanish | La importación de precios falló en la última ejecución. | La importación de precios funcionó en la última ejecución.
Portuguese | O backup do banco de dados foi concluído ontem à noite. | O backup do banco de dados não foi concluído ontem à noite.
Portuguese | As atualizações automáticas estão ativadas no servidor. | As atualizações automáticas estão desativadas no servidor.
Portuguese | A reunião com o cliente é na segunda-feira às dez. | A reunião com o cliente é na sexta-feira às dez.
Portuguese | A porta do depósito fica aberta durante a noite. | A porta do depósito fica fechada durante a noite.
French | La sauvegarde de la base est terminée depuis minuit. | La sauvegarde de la base n'est pas terminée depuis minuit.
French | Les mises à jour automatiques sont activées sur le serveur. | Les mises à jour automatiques sont désactivées sur le serveur.
French | La réunion avec le client a lieu lundi matin au bureau. | La réunion avec le client a lieu vendredi matin au bureau.
French | Le test de la passerelle a réussi sur la nouvelle version. | Le test de la passerelle a échoué sur la nouvelle version.
Italian | Il backup del database è stato completato stanotte. | Il backup del database non è stato completato stanotte.
Italian | Gli aggiornamenti automatici sono attivati sul server. | Gli aggiornamenti automatici sono disattivati sul server.
Italian | La riunione con il cliente è lunedì mattina in ufficio. | La riunione con il cliente è venerdì mattina in ufficio.
Italian | La porta del magazzino resta aperta durante la notte. | La porta del magazzino resta chiusa durante la notte.
Russian | Резервное копирование базы данных завершено сегодня ночью. | Резервное копирование базы данных не завершено сегодня ночью.
Russian | Автоматические обновления на сервере включены. | Автоматические обновления на сервере отключены.
Russian | Встреча с клиентом назначена на понедельник утром. | Встреча с клиентом назначена на пятницу утром.
Russian | Дверь склада остаётся открытой всю ночь. | Дверь склада остаётся закрытой всю ночь.
Turkish | Veritabanı yedeği bu gece tamamlandı. | Veritabanı yedeği bu gece tamamlanmadı.
Turkish | Sunucudaki otomatik güncellemeler açık. | Sunucudaki otomatik güncellemeler kapalı.
Turkish | Müşteri toplantısı pazartesi sabahı ofiste yapılacak. | Müşteri toplantısı cuma sabahı ofiste yapılacak.
Turkish | Ödeme sunucusu şu anda etkin durumda. | Ödeme sunucusu şu anda etkin durumda değil.
Chinese | 数据库备份今晚已经完成。 | 数据库备份今晚没有完成。
Chinese | 服务器上的自动更新已启用。 | 服务器上的自动更新已禁用。
Chinese | 与客户的会议定在星期一上午。 | 与客户的会议定在星期五上午。
Chinese | 价格导入在最后一次运行中成功。 | 价格导入在最后一次运行中失败。
Japanese | データベースのバックアップは今夜完了しました。 | データベースのバックアップは今夜完了しませんでした。
Japanese | サーバーの自動更新は有効です。 | サーバーの自動更新は無効です。
Japanese | 顧客との会議は月曜日の朝です。 | 顧客との会議は金曜日の朝です。
Japanese | 価格のインポートは成功しました。 | 価格のインポートは失敗しました。
Korean | 데이터베이스 백업이 오늘 밤 완료되었습니다. | 데이터베이스 백업이 오늘 밤 완료되지 않았습니다.
Korean | 서버의 자동 업데이트가 활성화되어 있습니다. | 서버의 자동 업데이트가 비활성화되어 있습니다.
Korean | 고객과의 회의는 월요일 오전입니다. | 고객과의 회의는 금요일 오전입니다.
Korean | 가격 가져오기가 성공했습니다. | 가격 가져오기가 실패했습니다.
""".strip().split("\n")  # fmt: skip


def _pairs() -> list[tuple[str, str, str, str]]:
    pairs = []
    for number, line in enumerate(_TOLD):
        language, said, against = (part.strip() for part in line.split("|"))
        # Each text stands in one pair only: the first line of a language also has its copy.
        pairs.append((language, "conflict", said, against))
        copy = f"- **{against.rstrip('.。')}**" if number % 2 else against.replace(" ", "  ").rstrip(".。") + " "
        pairs.append((language, "duplicate", against, copy))
    return pairs


PAIRS = tuple(_pairs())
