import { parseObject } from '../../boot';
import { t } from '../../text';

export const announcementTopic = 'convene.notice';
/** Characters, as the server counts them. */
export const longestAnnouncement = 500;

export interface Announcement {
  text: string;
  /** The presenter who made it. Absent when it comes from the service. */
  name?: string;
  /** It is for this participant alone. */
  toYou: boolean;
  /** It asks this participant to switch the microphone on, and has no text. */
  asks?: boolean;
}

export function parseAnnouncement(payload: Uint8Array): Announcement | undefined {
  const { text, name, toYou, ask } = parseObject(new TextDecoder().decode(payload));
  const asks = ask === 'microphone';
  if (typeof text !== 'string' || (text.trim() === '' && !asks)) return undefined;
  return {
    text,
    toYou: toYou === true,
    ...(asks && { asks }),
    ...(typeof name === 'string' && name !== '' && { name }),
  };
}

/** How the page shows an announcement. */
export function wordsOf({ text, name, toYou, asks }: Announcement): string {
  if (asks) return name ? t('notice.askToUnmute', { name }) : t('notice.askedToUnmute');
  if (!name) return text;
  return t(toYou ? 'announce.toYou' : 'announce.from', { name, text });
}
