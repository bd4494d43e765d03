import { parseObject } from '../../boot';

export const announcementTopic = 'convene.notice';
/** Characters, as the server counts them. */
export const longestAnnouncement = 500;

export interface Announcement {
  text: string;
  /** The presenter who made it. Absent when it comes from the service. */
  name?: string;
  /** It is for this participant alone. */
  toYou: boolean;
}

export function parseAnnouncement(payload: Uint8Array): Announcement | undefined {
  const { text, name, toYou } = parseObject(new TextDecoder().decode(payload));
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  return { text, toYou: toYou === true, ...(typeof name === 'string' && name !== '' && { name }) };
}
