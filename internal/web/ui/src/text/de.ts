// German: translated by a machine, and not yet read by a native speaker. How to review it is in docs/room.md.
import type { Language, Texts } from './index';

const texts: Texts = {
  'app.title.room': '{room} – {brand}',
  'app.title.muted': 'Stumm',
  'app.title.arrived': 'Sie sind drin',

  'home.title': 'Videokonferenzen direkt im Browser',
  'home.text':
    'Öffnen Sie den Link, den Sie erhalten haben, oder geben Sie den Namen eines Raums ein. Es muss nichts installiert werden.',
  'home.ended': 'Die Besprechung {room} ist beendet.',
  'home.label': 'Raumname oder Link',
  'home.join': 'Weiter',
  'home.invalid':
    'Geben Sie einen Raumnamen ohne Schrägstriche ein oder einen Link zu einem Raum dieses Dienstes.',

  'language.label': 'Sprache',

  'prejoin.title': 'Bereit zur Teilnahme?',
  'prejoin.room': 'Raum',
  'prejoin.name': 'Ihr Name',
  'prejoin.nameHint': 'Wird allen in der Besprechung angezeigt',
  'prejoin.nameRequired': 'Geben Sie Ihren Namen ein, damit die anderen wissen, wer Sie sind.',
  'prejoin.password': 'Passwort des Raums',
  'prejoin.passwordRequired': 'Dieser Raum hat ein Passwort. Geben Sie es ein, um teilzunehmen.',
  'prejoin.passwordWrong':
    'Das ist nicht das Passwort dieses Raums. Prüfen Sie es und versuchen Sie es noch einmal.',
  'prejoin.loginTitle': 'Anmelden und teilnehmen',
  'prejoin.username': 'Benutzername',
  'prejoin.userPassword': 'Passwort',
  'prejoin.token': 'Oder ein Token',
  'prejoin.tokenHint': 'Wenn Sie ein Token haben, brauchen Sie nichts weiter.',
  'prejoin.loginRequired':
    'Dieser Raum ist für angemeldete Benutzer. Geben Sie Benutzername und Passwort ein.',
  'prejoin.loginWrong':
    'Benutzername oder Passwort ist falsch. Prüfen Sie beides und versuchen Sie es noch einmal.',
  'prejoin.join': 'Jetzt teilnehmen',
  'prejoin.joining': 'Sie treten bei …',
  'prejoin.withoutDevices': 'Ohne Kamera und Mikrofon fortfahren',
  'prejoin.cameraOff': 'Kamera ist aus',
  'prejoin.cameraStarting': 'Kamera und Mikrofon werden gestartet …',
  'prejoin.allow': 'Ihr Browser fragt, ob diese Seite sie verwenden darf.',
  'prejoin.level': 'Mikrofonpegel',
  'prejoin.preview': 'Ihr Kamerabild',
  'prejoin.alreadyIn': 'Sie nehmen bereits in einem anderen Tab oder Fenster an dieser Besprechung teil.',
  'prejoin.tooManyAttempts':
    'Zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',

  'devices.microphone': 'Mikrofon',
  'devices.camera': 'Kamera',
  'devices.speaker': 'Lautsprecher',
  'devices.automatic': 'Auswahl des Browsers',
  'devices.testSound': 'Testton abspielen',
  'devices.orWithout': 'Sie können auch ohne sie teilnehmen.',
  'devices.speakerFailed': 'Dieser Lautsprecher kann nicht verwendet werden. Wählen Sie einen anderen.',
  'devices.micOff': 'Das Mikrofon ist aus.',
  'devices.cameraOff': 'Die Kamera ist aus.',

  'background.menu': 'Hintergrund ändern',
  'background.label': 'Hintergrund',
  'background.camera': 'Keiner',
  'background.blur': 'Unscharf',
  'background.dawn': 'Morgenrot',
  'background.sea': 'Meer',
  'background.night': 'Nacht',
  'background.starting': 'Hintergrund wird vorbereitet …',
  'background.unsupported': 'Dieser Browser kann den Hintergrund Ihres Bildes nicht ändern.',
  'background.failed':
    'Der Hintergrund konnte nicht geändert werden, daher ist Ihre Kamera aus. Wählen Sie beim Hintergrund „Keiner“ und schalten Sie die Kamera ein.',

  'noise.label': 'Hintergrundgeräusche unterdrücken',
  'noise.unsupported': 'Dieser Browser kann Hintergrundgeräusche nicht unterdrücken.',
  'noise.failed': 'Hintergrundgeräusche konnten nicht unterdrückt werden. Ihr Mikrofon funktioniert auch so.',

  'devices.denied.mic': 'Ihr Browser blockiert das Mikrofon. Erlauben Sie es in der Adressleiste.',
  'devices.denied.camera': 'Ihr Browser blockiert die Kamera. Erlauben Sie sie in der Adressleiste.',
  'devices.denied.both':
    'Ihr Browser blockiert Kamera und Mikrofon. Erlauben Sie beides in der Adressleiste.',
  'devices.absent.mic': 'Es wurde kein Mikrofon gefunden. Schließen Sie eines an.',
  'devices.absent.camera': 'Es wurde keine Kamera gefunden. Schließen Sie eine an.',
  'devices.absent.both': 'Es wurde weder Kamera noch Mikrofon gefunden. Schließen Sie ein Gerät an.',
  'devices.busy.mic':
    'Ein anderes Programm verwendet das Mikrofon. Schließen Sie es und versuchen Sie es noch einmal.',
  'devices.busy.camera':
    'Ein anderes Programm verwendet die Kamera. Schließen Sie es und versuchen Sie es noch einmal.',
  'devices.busy.both':
    'Ein anderes Programm verwendet Kamera und Mikrofon. Schließen Sie es und versuchen Sie es noch einmal.',
  'devices.insecure.mic':
    'Browser erlauben das Mikrofon nur auf sicheren Seiten (https). Bitten Sie um einen Link mit https.',
  'devices.insecure.camera':
    'Browser erlauben die Kamera nur auf sicheren Seiten (https). Bitten Sie um einen Link mit https.',
  'devices.insecure.both':
    'Browser erlauben Kamera und Mikrofon nur auf sicheren Seiten (https). Bitten Sie um einen Link mit https.',
  'devices.failed.mic': 'Das Mikrofon konnte nicht gestartet werden. Versuchen Sie es noch einmal.',
  'devices.failed.camera': 'Die Kamera konnte nicht gestartet werden. Versuchen Sie es noch einmal.',
  'devices.failed.both': 'Kamera und Mikrofon konnten nicht gestartet werden. Versuchen Sie es noch einmal.',
  'devices.unsupported.mic':
    'Dieser Browser kann das Mikrofon nicht verwenden. Öffnen Sie den Link in einem anderen Browser.',
  'devices.unsupported.camera':
    'Dieser Browser kann die Kamera nicht verwenden. Öffnen Sie den Link in einem anderen Browser.',
  'devices.unsupported.both':
    'Dieser Browser kann weder Kamera noch Mikrofon verwenden. Öffnen Sie den Link in einem anderen Browser.',
  'devices.embedded.mic':
    'Die Seite um die Besprechung herum erlaubt das Mikrofon nicht. Öffnen Sie die Besprechung in einem eigenen Tab.',
  'devices.embedded.camera':
    'Die Seite um die Besprechung herum erlaubt die Kamera nicht. Öffnen Sie die Besprechung in einem eigenen Tab.',
  'devices.embedded.both':
    'Die Seite um die Besprechung herum erlaubt weder Kamera noch Mikrofon. Öffnen Sie die Besprechung in einem eigenen Tab.',
  'devices.policy.mic': 'Der Server dieser Seite verbietet das Mikrofon. Sagen Sie es den Betreibern.',
  'devices.policy.camera': 'Der Server dieser Seite verbietet die Kamera. Sagen Sie es den Betreibern.',
  'devices.policy.both':
    'Der Server dieser Seite verbietet Kamera und Mikrofon. Sagen Sie es den Betreibern.',
  'devices.system.mic':
    'Ihr Betriebssystem blockiert das Mikrofon. Erlauben Sie es diesem Browser in den Systemeinstellungen.',
  'devices.system.camera':
    'Ihr Betriebssystem blockiert die Kamera. Erlauben Sie sie diesem Browser in den Systemeinstellungen.',
  'devices.system.both':
    'Ihr Betriebssystem blockiert Kamera und Mikrofon. Erlauben Sie diesem Browser beides in den Systemeinstellungen.',
  'devices.lost.mic':
    'Das Mikrofon hat aufgehört. Prüfen Sie, ob es angeschlossen ist, und schalten Sie es wieder ein.',
  'devices.lost.camera':
    'Die Kamera hat aufgehört. Prüfen Sie, ob sie angeschlossen ist, und schalten Sie sie wieder ein.',
  'devices.lost.both':
    'Kamera und Mikrofon haben aufgehört. Prüfen Sie, ob sie angeschlossen sind, und schalten Sie sie wieder ein.',
  'devices.paused.mic':
    'Ihr Gerät hat das Mikrofon angehalten. Es geht von selbst weiter. Um es gleich zu versuchen, schalten Sie es ein.',
  'devices.paused.camera':
    'Ihr Gerät hat die Kamera angehalten. Sie geht von selbst weiter. Um es gleich zu versuchen, schalten Sie sie ein.',
  'devices.paused.both':
    'Ihr Gerät hat Kamera und Mikrofon angehalten. Sie gehen von selbst weiter. Um es gleich zu versuchen, schalten Sie beides ein.',

  'screen.insecure':
    'Browser teilen den Bildschirm nur auf sicheren Seiten (https). Bitten Sie um einen Link mit https.',
  'screen.unsupported':
    'Dieser Browser kann keinen Bildschirm teilen. Öffnen Sie den Link an einem Computer in einem anderen Browser.',
  'screen.embedded':
    'Die Seite um die Besprechung herum erlaubt es nicht, den Bildschirm zu teilen. Öffnen Sie die Besprechung in einem eigenen Tab.',
  'screen.policy':
    'Der Server dieser Seite verbietet es, den Bildschirm zu teilen. Sagen Sie es den Betreibern.',
  'screen.system':
    'Ihr Betriebssystem blockiert das Teilen des Bildschirms. Erlauben Sie es diesem Browser in den Systemeinstellungen und starten Sie den Browser neu.',
  'screen.failed': 'Der Bildschirm konnte nicht geteilt werden. Bitte versuchen Sie es noch einmal.',

  'controls.toolbar': 'Steuerung der Besprechung',
  'controls.microphone': 'Mikrofon',
  'controls.camera': 'Kamera',
  'controls.screen': 'Bildschirm teilen',
  'controls.hand': 'Hand heben',
  'controls.chat': 'Chat',
  'controls.participants': 'Personen',
  'controls.settings': 'Einstellungen',
  'controls.more': 'Mehr',
  'controls.flipCamera': 'Zur anderen Kamera wechseln',
  'controls.leave': 'Verlassen',
  'controls.endForAll': 'Für alle beenden',
  'controls.close': 'Schließen',
  'controls.cancel': 'Abbrechen',
  'controls.failed': '{device} (funktioniert nicht)',
  'controls.paused': '{device} (von Ihrem Gerät angehalten)',
  'controls.micMenu': 'Mikrofon und Lautsprecher',
  'controls.cameraMenu': 'Kamera wählen',
  'controls.sounds': 'Töne',
  'controls.hands': { one: '{count} gehobene Hand', other: '{count} gehobene Hände' },

  'controls.word.screen': 'Teilen',
  'controls.word.hand': 'Hand',
  'controls.react': 'Reagieren',
  'controls.word.react': 'Reagieren',
  'controls.micLocked': 'Mikrofon (von der Moderation ausgeschaltet)',
  'controls.cameraLocked': 'Kamera (derzeit nicht erlaubt)',
  'controls.screenLocked': 'Bildschirm teilen (derzeit nicht erlaubt)',
  'controls.unread': { one: '{count} ungelesene Nachricht', other: '{count} ungelesene Nachrichten' },

  'room.connecting': 'Verbindung wird hergestellt …',
  'room.reconnecting': 'Verbindung wird wiederhergestellt …',
  'room.unreachable': 'Die Besprechung ist gerade nicht erreichbar. Neuer Versuch …',
  'room.alone': 'Außer Ihnen ist niemand hier',
  'room.aloneHidden': 'Noch ist niemand hier',
  'room.aloneText': 'Senden Sie den Link an die Personen, mit denen Sie sich treffen möchten.',
  'room.copyLink': 'Link kopieren',
  'room.share': 'Link teilen',
  'room.mailLink': 'Per E-Mail senden',
  'room.mailSubject': 'Videokonferenz: {room}',
  'invite.qr': 'QR-Code',
  'invite.qrTitle': 'Mit dem Smartphone teilnehmen',
  'invite.qrText': 'Richten Sie die Kamera eines Smartphones auf dieses Bild.',
  'invite.qrAlt': 'QR-Code des Links',

  'room.linkCopied': 'Link kopiert',
  'room.watching': 'Sie sehen zu: Die anderen sehen und hören Sie nicht.',
  'room.watchingShort': 'Sie sehen zu',
  'room.you': '{name} (Sie)',
  'room.youMark': '(Sie)',
  'room.sharing': 'Sie teilen Ihren Bildschirm.',
  'room.screenOf': 'Bildschirm von {name}',
  'room.stopSharing': 'Teilen beenden',
  'room.offerScreen': 'Sie wurden gebeten, Ihren Bildschirm zu teilen.',
  'room.offerScreenButton': 'Bildschirm teilen',
  'room.notNow': 'Nicht jetzt',
  'room.soundBlocked': 'Ihr Browser lässt den Ton aus, bis Sie klicken.',
  'room.soundOn': 'Ton einschalten',
  'room.picturesBlocked': 'Ihr Browser lässt die Bilder stehen, bis Sie klicken.',
  'room.picturesOn': 'Bilder starten',
  'room.stage': 'Besprechung',
  'room.muted': 'Mikrofon aus',
  'room.handRaised': 'Hand gehoben',
  'room.presenter': 'Moderation',

  'view.grid': 'Rasteransicht',
  'view.speaker': 'Sprecheransicht',
  'view.hideSelf': 'Eigenes Bild ausblenden',
  'view.fullScreen': 'Vollbild',
  'view.pip': 'Bild im Bild',
  'pip.failed': 'Bild im Bild ließ sich nicht öffnen. Bitte versuchen Sie es noch einmal.',
  'pip.nothing':
    'Für Bild im Bild gibt es nichts zu zeigen: Es braucht die Kamera eines anderen oder einen geteilten Bildschirm.',
  'view.pin': '{name} anheften',
  'view.pinned': 'Von Ihnen angeheftet',

  'quality.excellent': 'Gute Verbindung',
  'quality.good': 'Mäßige Verbindung',
  'quality.poor': 'Schlechte Verbindung',
  'quality.lost': 'Verbindung verloren',

  'hidden.count': { one: '{count} Person sieht unbemerkt zu', other: '{count} Personen sehen unbemerkt zu' },
  'hidden.names': 'Nur die Moderation sieht das: {names}',
  'hidden.role': 'Sieht unbemerkt zu',

  'shortcuts.title': 'Tastenkürzel',
  'shortcuts.use': 'Diese Tasten verwenden',
  'shortcuts.layout': 'Raster- oder Sprecheransicht',
  'shortcuts.help': 'Diese Liste',
  'shortcuts.pushToTalk': 'Sprechen, solange sie gedrückt ist',
  'shortcuts.space': 'Leertaste',

  'connection.title': 'Meine Verbindung testen',
  'connection.service': 'Dienst',
  'connection.media': 'Ton und Bild',
  'connection.delay': 'Verzögerung',
  'connection.sent': 'Gesendet',
  'connection.received': 'Empfangen',
  'connection.lost': '{share} verloren',
  'connection.works': 'Funktioniert',
  'connection.fails': 'Funktioniert nicht',
  'connection.absent': 'Von diesem Dienst nicht angeboten',
  'connection.untested': 'Nicht geprüft',
  'connection.direct': 'Direkt, über {protocol}',
  'connection.relayed': 'Über einen Vermittler, über {protocol}',
  'connection.testing': 'Der Test läuft. Das dauert etwa 20 Sekunden.',
  'connection.good': 'Besprechungen werden hier gut funktionieren.',
  'connection.poor':
    'Ton und Bild kommen durch, aber die Verbindung ist schwach. Gehen Sie näher an den Router, nehmen Sie ein Kabel oder lassen Sie die Kamera aus.',
  'connection.noService':
    'Der Dienst ist nicht erreichbar. Prüfen Sie, ob Sie online sind und ob Ihr Netzwerk diese Seite durchlässt.',
  'connection.noMedia':
    'Der Dienst ist erreichbar, aber Ton und Bild kommen nicht durch. Bitten Sie die Zuständigen für Ihr Netzwerk, UDP zu diesem Dienst zu erlauben.',
  'connection.noUdp':
    'Ihr Netzwerk lässt UDP nicht durch, daher können Ton und Bild stocken. Bitten Sie die Zuständigen, UDP zu erlauben.',
  'connection.copy': 'Für den Support kopieren',
  'connection.copied': 'Kopiert',

  'countdown.label': 'Verbleibende Zeit',
  'countdown.left': 'Noch {time}',
  'countdown.soon': {
    one: 'Diese Besprechung endet in {count} Minute.',
    other: 'Diese Besprechung endet in {count} Minuten.',
  },

  'arrived.none': 'Sie sind drin.',

  'arrived.mic': 'Sie sind drin, und Ihr Mikrofon ist an.',

  'arrived.camera': 'Sie sind drin, und Ihre Kamera ist an.',

  'arrived.both': 'Sie sind drin. Ihr Mikrofon und Ihre Kamera sind an.',
  'arrived.unshared':
    'Ihr Bildschirm wird nicht mehr geteilt, weil Ihr Gerät im Ruhezustand war. Sie können ihn jederzeit wieder teilen.',

  'notice.joined': '{name} ist beigetreten',
  'notice.joinedMany': {
    one: '{name} und {count} weitere Person sind beigetreten',
    other: '{name} und {count} weitere Personen sind beigetreten',
  },
  'notice.left': '{name} ist gegangen',
  'notice.recipientLeft': '{name} ist gegangen. Was Sie in den Chat schreiben, geht wieder an alle.',
  'notice.message': 'Nachricht von {name}: {text}',
  'notice.privateMessage': 'Private Nachricht von {name}: {text}',
  'notice.handRaised': '{name} hat die Hand gehoben',
  'notice.mutedByPresenter': 'Die Moderation hat Ihr Mikrofon ausgeschaltet.',
  'notice.muted': {
    one: '{count} Mikrofon wurde ausgeschaltet.',
    other: '{count} Mikrofone wurden ausgeschaltet.',
  },
  'notice.mutedNone': 'Kein Mikrofon war an.',
  'notice.deviceReplaced': '{before} ist weg. Stattdessen wird {now} verwendet.',
  'notice.micLocked':
    'Die Moderation hat Ihr Mikrofon ausgeschaltet. Heben Sie die Hand, um das Wort zu erbitten.',
  'notice.maySpeak': 'Sie dürfen wieder sprechen: Schalten Sie Ihr Mikrofon ein.',
  'notice.cameraStopped': 'Die Moderation hat Ihre Kamera ausgeschaltet.',
  'notice.screenStopped': 'Die Moderation hat Ihre Freigabe beendet.',
  'notice.mayUseCamera': 'Sie dürfen Ihre Kamera wieder einschalten.',
  'notice.mayShare': 'Sie dürfen Ihren Bildschirm wieder freigeben.',
  'notice.askToUnmute': '{name} bittet Sie, Ihr Mikrofon einzuschalten.',
  'notice.askedToUnmute': 'Sie werden gebeten, Ihr Mikrofon einzuschalten.',
  'notice.saved': 'Gespeichert. Es gilt gleich.',
  'notice.connecting': 'Die Verbindung wird noch aufgebaut. Versuchen Sie es gleich noch einmal.',
  'notice.cameraLocked': 'Die Moderation hat Ihre Kamera gesperrt. Heben Sie die Hand, um darum zu bitten.',
  'notice.screenLocked': 'Die Moderation hat Ihre Freigabe gesperrt. Heben Sie die Hand, um darum zu bitten.',
  'notice.promoted': 'Sie moderieren jetzt.',
  'notice.demoted': 'Sie moderieren nicht mehr.',
  'notice.youAreMuted': 'Ihr Mikrofon ist stummgeschaltet.',
  'notice.youAreMutedKey':
    'Ihr Mikrofon ist stummgeschaltet. Halten Sie die Leertaste gedrückt, um zu sprechen.',
  'notice.unmute': 'Einschalten',
  'notice.reactionFailed': 'Ihre Reaktion wurde nicht gesendet. Bitte versuchen Sie es noch einmal.',
  'notice.actFailed': 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
  'notice.handFailed':
    'Ihre Hand konnte nicht gehoben oder gesenkt werden. Bitte versuchen Sie es noch einmal.',
  'notice.copyFailed': 'Das Kopieren hat nicht geklappt. Der Link lautet: {url}',
  'notice.dismiss': 'Ausblenden',

  'chat.title': 'Chat',
  'chat.empty':
    'Sie sehen die Nachrichten seit Ihrem Beitritt. Alle in der Besprechung können lesen, was hier geschrieben wird.',
  'chat.emptyShared':
    'Alle in der Besprechung können lesen, was hier geschrieben wird, auch wer später beitritt.',
  'chat.joined': 'Hier sind Sie beigetreten. Was darüber steht, wurde vorher geschrieben.',
  'chat.input': 'Nachricht',
  'chat.placeholder': 'Nachricht schreiben',
  'chat.send': 'Senden',
  'chat.failed': 'Nicht gesendet. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  'chat.refused': 'Nicht gesendet: Der Chat ist für Sie ausgeschaltet.',
  'chat.tooLong': { one: '{count} Zeichen zu viel', other: '{count} Zeichen zu viel' },
  'chat.you': 'Sie',
  'chat.log': 'Nachrichten',
  'chat.new': { one: '{count} neue Nachricht', other: '{count} neue Nachrichten' },
  'chat.to': 'An',
  'chat.everyone': 'Alle',
  'chat.private': 'Privat',
  'chat.privateNote': 'Eine private Nachricht liest nur, wer sie bekommt.',
  'chat.inputTo': 'Private Nachricht an {name}',
  'chat.privateTo': 'An {name}, privat',
  'chat.privateFrom': 'Von {name}, privat',
  'chat.unreachable':
    'Nicht gesendet: {name} ist nicht erreichbar. Drücken Sie noch einmal auf „Senden“, um dies an alle zu senden.',
  'chat.gone': 'Nicht gesendet: {name} ist nicht erreichbar.',
  'chat.unsent': 'Nicht gesendet',
  'chat.unsentTo': 'Nicht an {name} gesendet',
  'chat.again': 'Erneut senden',
  'chat.discard': 'Verwerfen',

  'people.title': 'Personen',
  'people.search': 'Suchen',
  'people.none': 'Niemand hat diesen Namen.',
  'people.more': 'Aktionen für {name}',
  'people.count': { one: '{count} Person', other: '{count} Personen' },
  'people.list': 'Personen in dieser Besprechung',
  'people.mute': 'Stummschalten',
  'people.lockMicrophone': 'Mikrofon sperren',
  'people.allowToSpeak': 'Sprechen erlauben',
  'people.askToUnmute': 'Um Einschalten bitten',
  'people.stopCamera': 'Kamera ausschalten',
  'people.lockCamera': 'Kamera sperren',
  'people.allowCamera': 'Kamera erlauben',
  'people.stopScreen': 'Freigabe beenden',
  'people.lockScreen': 'Freigabe sperren',
  'people.allowScreen': 'Freigabe erlauben',
  'people.mutedByPresenter': 'Von der Moderation stummgeschaltet',
  'people.remove': 'Entfernen',
  'people.lowerHand': 'Hand senken',
  'people.removeTitle': '{name} entfernen?',
  'people.removeText':
    'Die Person verlässt die Besprechung sofort und kann mit demselben Link nicht zurückkommen.',
  'people.ban': 'Aussperren: Wer angemeldet ist, kommt auch mit anderen Links nicht herein',
  'people.handPlace': 'Hand gehoben, Nummer {place}',
  'people.micOn': 'Mikrofon an',
  'people.cameraOn': 'Kamera an',
  'people.cameraOff': 'Kamera aus',
  'people.promote': 'Moderationsrechte geben',
  'people.demote': 'Moderationsrechte entziehen',
  'people.announce': 'Ankündigung senden',
  'people.write': 'Privat schreiben',

  'reaction.said': '{name}: {reaction}',
  'reaction.like': 'Daumen hoch',
  'reaction.dislike': 'Daumen runter',
  'reaction.love': 'Herz',
  'reaction.laugh': 'Lachen',
  'reaction.applause': 'Applaus',

  'recording.word': 'Aufnahme',
  'recording.begins': 'Diese Besprechung wird aufgezeichnet oder übertragen.',
  'recording.ends': 'Aufzeichnung und Übertragung sind beendet.',

  'captions.title': 'Untertitel',
  'captions.available': 'Für diese Besprechung gibt es Untertitel.',
  'captions.show': 'Untertitel anzeigen',

  'spoken.title': 'Screenreader',
  'spoken.legend': 'Was ein Screenreader von den anderen sagt',
  'spoken.comings': 'Wer kommt und geht',
  'spoken.hands': 'Gehobene Hände',
  'spoken.reactions': 'Reaktionen',
  'spoken.messages': 'Nachrichten im Chat',
  'spoken.joined': '{count} Personen sind beigetreten',
  'spoken.left': '{count} Personen sind gegangen',
  'spoken.hand': '{count} Personen haben die Hand gehoben',
  'spoken.reaction': '{count} Reaktionen',
  'spoken.message': '{count} Nachrichten',

  'pictures.title': 'Daten sparen',
  'pictures.legend': 'Kamerabilder der anderen',
  'pictures.all': 'In bester Qualität',
  'pictures.less': 'Klein, um Daten zu sparen',
  'pictures.none': 'Keine: nur Ton und geteilte Bildschirme',
  'pictures.word': 'Nur Ton',
  'pictures.noneText': 'Sie sehen keine Kameras, um Daten zu sparen. Unter „Mehr“ können Sie das ändern.',

  'volume.item': 'Lautstärke',
  'volume.title': 'Lautstärke von {name}',
  'volume.label': 'Wie laut Sie die Person hören',
  'volume.hint': 'Nur Sie hören den Unterschied.',
  'volume.onOff':
    'Die Lautstärke lässt sich an diesem Gerät nur mit seinen Tasten einstellen. Hier wählen Sie, ob Sie diese Person überhaupt hören. Nur Sie bemerken es.',

  'moderate.title': 'Für die Moderation',
  'moderate.muteAll': 'Alle stummschalten',
  'moderate.muteAllTitle': 'Alle stummschalten?',
  'moderate.muteAllText':
    'Die Mikrofone aller Teilnehmenden werden ausgeschaltet. Die der Moderation bleiben an.',
  'moderate.mayUnmute': 'Sie dürfen ihre Mikrofone wieder einschalten',
  'moderate.lock': 'Besprechung sperren',
  'moderate.rules': 'Regeln der Besprechung',
  'moderate.announce': 'Ankündigung an alle',

  'announce.titleTo': 'Ankündigung an {name}',
  'announce.text': 'Text',
  'announce.send': 'Senden',
  'announce.from': '{name}: {text}',
  'announce.toYou': '{name}, an Sie: {text}',

  'rules.everyone': 'Alle dürfen',
  'rules.microphone': 'Das Mikrofon verwenden',
  'rules.camera': 'Die Kamera verwenden',
  'rules.screen': 'Einen Bildschirm teilen',
  'rules.chat': 'In den Chat schreiben',
  'rules.only.microphone': 'Derzeit darf nur die Moderation das Mikrofon verwenden.',
  'rules.only.camera': 'Derzeit darf nur die Moderation die Kamera verwenden.',
  'rules.only.screen': 'Derzeit darf nur die Moderation einen Bildschirm teilen.',
  'rules.only.chat': 'Derzeit darf nur die Moderation in den Chat schreiben.',
  'rules.all.microphone': 'Alle dürfen das Mikrofon wieder verwenden.',
  'rules.all.camera': 'Alle dürfen die Kamera wieder verwenden.',
  'rules.all.screen': 'Alle dürfen wieder einen Bildschirm teilen.',
  'rules.all.chat': 'Alle dürfen wieder in den Chat schreiben.',
  'rules.lockedWord': 'Gesperrt',
  'rules.locked': 'Die Besprechung ist gesperrt: Niemand kommt mehr herein.',
  'rules.unlocked': 'Die Besprechung ist wieder offen.',

  'admission.title': 'Wer hereinkommt',
  'admission.Open': 'Alle, sofort',
  'admission.WithPresenter': 'Alle, sobald die Moderation da ist',
  'admission.Ask': 'Wen die Moderation einlässt',

  'waiting.title': 'Wartende Personen',
  'waiting.door': 'Warteraum',
  'waiting.count': { one: '{count} Person wartet', other: '{count} Personen warten' },
  'waiting.knock': '{name} wartet auf Einlass.',
  'waiting.show': 'Anzeigen',
  'waiting.admit': 'Einlassen',
  'waiting.admitName': '{name} einlassen',
  'waiting.admitAll': 'Alle einlassen',
  'waiting.refuse': 'Ablehnen',
  'waiting.refuseTitle': '{name} ablehnen?',
  'waiting.refuseText': 'Die Person kann mit demselben Link nicht hereinkommen.',
  'waiting.more': { one: 'und {count} weitere Person', other: 'und {count} weitere Personen' },
  'waiting.refuseName': '{name} ablehnen',

  'wait.title.WithPresenter': 'Die Besprechung beginnt in Kürze',
  'wait.title.Ask': 'Sie sind im Warteraum',
  'wait.text.WithPresenter': 'Sie kommen von selbst herein, sobald die Moderation da ist.',
  'wait.text.Ask': 'Die Moderation sieht, dass Sie warten, und entscheidet.',
  'wait.message': 'Eine Nachricht an die Moderation (freiwillig)',
  'wait.said': 'Sie haben geschrieben:',

  'end.title': 'Besprechung für alle beenden?',
  'end.text': 'Alle Teilnehmenden verlassen sie sofort.',
  'end.redirect': 'Alle weiterleiten an (freiwillig)',
  'end.more': 'Weitere Optionen',
  'end.redirectHint':
    'Eine Webadresse, die mit https:// beginnt. Bleibt das Feld leer, gelangen alle zur vorgesehenen Seite der Besprechung.',
  'end.redirectInvalid': 'Geben Sie eine vollständige Webadresse ein, die mit https:// oder http:// beginnt.',
  'end.confirm': 'Für alle beenden',

  'left.title': 'Sie haben die Besprechung verlassen',
  'left.text': 'Solange sie läuft, können Sie zurückkommen.',
  'left.rejoin': 'Wieder teilnehmen',
  'left.home': 'Zur Startseite',

  'ended.title': 'Die Besprechung ist beendet',
  'ended.text': {
    one: 'In {count} Sekunde werden Sie zu {host} weitergeleitet.',
    other: 'In {count} Sekunden werden Sie zu {host} weitergeleitet.',
  },
  'ended.textHome': {
    one: 'In {count} Sekunde werden Sie zur Startseite weitergeleitet.',
    other: 'In {count} Sekunden werden Sie zur Startseite weitergeleitet.',
  },
  'ended.going': 'Sie werden zu {host} weitergeleitet.',
  'ended.stayed': 'Sie ist für alle vorbei.',
  'ended.length': 'Sie waren {time} dabei.',
  'ended.continue': 'Weiter',
  'ended.stay': 'Hierbleiben',

  'failed.part': 'Dieser Teil ist ausgefallen.',

  'controls.silence': 'Mikrofon und Kamera ausschalten',
  'failure.retry': 'Noch einmal versuchen',
  'failure.wait': 'Hier warten',
  'failure.waiting': 'Wir lassen Sie herein, sobald es möglich ist. Lassen Sie diese Seite geöffnet.',
  'failure.stopWaiting': 'Nicht mehr warten',
  'failure.home': 'Zur Startseite',
  'failure.Invalid.title': 'Dieser Link stimmt nicht',
  'failure.Invalid.text':
    'Ein Teil fehlt oder ist falsch. Bitten Sie noch einmal um den Link und öffnen Sie ihn unverändert.',
  'failure.NotAllowed.title': 'Sie können diesen Raum nicht betreten',
  'failure.NotAllowed.text':
    'Bitten Sie die Person, die Sie eingeladen hat, um einen Link, mit dem Sie hereinkommen.',
  'failure.LinkExpired.title': 'Dieser Link ist abgelaufen',
  'failure.LinkExpired.text': 'Bitten Sie die Person, die Sie eingeladen hat, um einen neuen.',
  'failure.NotFound.title': 'Diese Besprechung gibt es nicht',
  'failure.NotFound.text':
    'Prüfen Sie den Link oder den Namen des Raums: Vielleicht ist er falsch geschrieben, oder die Besprechung ist noch nicht eröffnet.',
  'failure.Full.title': 'Diese Besprechung ist voll',
  'failure.Full.text': 'Alle Plätze sind belegt. Versuchen Sie es noch einmal, wenn jemand gegangen ist.',
  'failure.Locked.title': 'Diese Besprechung ist gesperrt',
  'failure.Locked.text': 'Bitten Sie die Moderation, sie zu öffnen.',
  'failure.TooManyAttempts.title': 'Zu viele Versuche',
  'failure.TooManyAttempts.text': 'Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
  'failure.Unavailable.title': 'Die Besprechung ist nicht erreichbar',
  'failure.Unavailable.text':
    'Der Dienst oder Ihre Verbindung ist unterbrochen. Diese Seite versucht es von selbst weiter.',
  'failure.Removed.title': 'Sie wurden aus der Besprechung entfernt',
  'failure.Removed.text': 'Die Moderation hat Ihre Teilnahme beendet.',
  'failure.NotLetIn.title': 'Sie wurden nicht eingelassen',
  'failure.NotLetIn.text': 'Die Moderation hat Sie nicht in die Besprechung eingelassen.',
  'failure.Elsewhere.title': 'Sie nehmen in einem anderen Fenster teil',
  'failure.Elsewhere.text': 'Die Besprechung läuft dort weiter. Sie können stattdessen auch hier fortfahren.',
  'failure.Elsewhere.retry': 'Hier fortfahren',
  'failure.AlreadyIn.title': 'Sie nehmen bereits an dieser Besprechung teil',
  'failure.AlreadyIn.text':
    'Sie ist in einem anderen Tab oder Fenster dieses Browsers geöffnet. Wenn Sie auch hier teilnehmen, hören Sie alles doppelt.',
  'failure.AlreadyIn.retry': 'Auch hier teilnehmen',
  'failure.NoWebRTC.title': 'Videoanrufe sind in diesem Browser abgeschaltet',
  'failure.NoWebRTC.text':
    'Besprechungen brauchen WebRTC, und etwas hat es abgeschaltet: der Blockierungsmodus von iPhone, iPad oder Mac, eine Erweiterung oder eine Regel Ihrer Organisation. Schalten Sie es für diese Website ein, oder öffnen Sie den Link in einem anderen Browser oder auf einem anderen Gerät.',
  'failure.NoPage.title': 'Hier ist nichts',
  'failure.NoPage.text': 'Prüfen Sie den Link oder beginnen Sie auf der Startseite.',
  'failure.Outdated.title': 'Diese Seite ist veraltet',
  'failure.Outdated.text': 'Laden Sie sie neu, um in das Meeting zurückzukehren.',
  'failure.Broken.title': 'Die Seite wurde nicht vollständig geladen',
  'failure.Broken.text': 'Prüfen Sie Ihre Verbindung und laden Sie die Seite dann noch einmal.',
  'failure.Broken.retry': 'Neu laden',
};

const german: Language = { tag: 'de', dir: 'ltr', texts };

export default german;
