import { httpUrl, parseObject } from '../boot';
import { attempt, type Tab } from './storage';

/** Seconds to read that the meeting has ended, and to choose to stay (WCAG 2.2.1 asks for 20). */
const readingTime = 20;

/** The page that a participant is sent to when the meeting has ended. */
export interface Destination {
  to: string;
  /** The meeting names this page. The other pages are the operator's or the service's own. */
  named: boolean;
  /** Seconds until the browser goes there by itself. Undefined when it does not. */
  after: number | undefined;
}

interface Places {
  /** spec.web.homeURL, or the service's own first page. */
  home: string;
  /** spec.web.endCountdown, in seconds. Undefined when the operator did not set it. */
  countdown: number | undefined;
  /** The page is in an iframe. The page around it decides what comes after the meeting. */
  embedded: boolean;
}

/** Chooses where a participant goes when the meeting has ended. */
export function destinationOf(redirect: string, { home, countdown, embedded }: Places): Destination {
  const named = httpUrl(redirect);
  // The backend's own page tells best what happened. Going there at once sets nobody a time limit.
  if (named) return { to: named, named: true, after: countdown ?? 0 };
  return { to: home, named: false, after: embedded ? undefined : Math.max(countdown ?? 0, readingTime) };
}

export interface PastMeeting {
  to: string;
  named: boolean;
  /** Milliseconds that the participant was in the meeting. */
  length?: number;
}

/** Remembers in this tab that the meeting of this address has ended, so that a reload shows the end. */
export class EndMemory {
  constructor(
    private readonly storage: () => Tab,
    private readonly base: string,
    private readonly address: string,
  ) {}

  /** Returns the meeting that had ended before a reload. */
  read(): PastMeeting | undefined {
    const { to, named, length } = parseObject(attempt(() => this.storage().getItem(this.key)) ?? '');
    const url = httpUrl(to);
    if (!url) return undefined;
    return { to: url, named: named === true, ...(typeof length === 'number' && { length }) };
  }

  write(past: PastMeeting, room: string): void {
    attempt(() => this.storage().setItem(this.key, JSON.stringify(past)));
    if (past.to === this.base) attempt(() => this.storage().setItem(this.roomKey, room));
  }

  /** The participant enters again, so that a reload must not show the end of an earlier meeting. */
  forget(): void {
    attempt(() => this.storage().removeItem(this.key));
    attempt(() => this.storage().removeItem(this.roomKey));
  }

  /** Returns the room whose end led to the service's first page, once. */
  takeRoom(): string | undefined {
    const room = attempt(() => this.storage().getItem(this.roomKey));
    attempt(() => this.storage().removeItem(this.roomKey));
    return room ?? undefined;
  }

  private get key(): string {
    return `convene.ended ${this.address}`;
  }

  private get roomKey(): string {
    return `convene.endedRoom ${this.base}`;
  }
}
