import { pause } from '../session/backoff';
import type { Opened, Waits } from '../session/client';
import { nobody, SessionError, type SessionRequest, type Verdict } from '../session/protocol';
import { decodePayload } from '../ticket';

/** Milliseconds for which a session is worth something. */
export const life = 24 * 3_600_000;

interface Grant {
  sub: string;
  meeting: number;
  waits: boolean;
  exp: number;
}

/** For tests: the service with one room, which has one meeting after the other. */
export class FakeService {
  /** The number of the meeting that goes on. Undefined while none does. */
  live: number | undefined = 1;
  /** Whether newcomers have to wait. */
  asks = false;
  /** Nothing answers. */
  down = false;
  private meetings = 1;
  /** The first of the meetings that links have started again, one after the other. */
  private first = 1;
  private sessions = 0;
  private guests = 0;

  end(): void {
    this.live = undefined;
  }

  /** The room has had no meeting yet. */
  cancel(): void {
    this.live = undefined;
    this.meetings = 0;
  }

  begin(): void {
    this.live = this.first = ++this.meetings;
  }

  /** Somebody's link starts the meeting again that everybody had left. */
  restart(): void {
    this.live = ++this.meetings;
  }

  /** A ticket leads into its meeting, also when links have started that again. */
  ticket(): string {
    return tokenOf({ typ_use: 'ticket', meeting: this.first });
  }

  async open({ session, renews, name, ticket }: SessionRequest): Promise<Opened | Waits> {
    await this.travel();
    const before = this.read(session);
    if (renews && !before) throw new SessionError('Ended', '');
    if (before && before.meeting !== this.live) throw new SessionError('Ended', '');
    if (this.live === undefined) throw new SessionError(this.meetings > 0 ? 'Ended' : 'NotFound', '');
    if (ticket && decodePayload(ticket).meeting !== this.first) throw new SessionError('Ended', '');
    const sub = before?.sub ?? `guest-${++this.guests}`;
    const waits = this.asks && (before?.waits ?? true);
    const token = this.sign({ sub, meeting: this.live, waits, exp: Date.now() + life });
    const engine = { url: 'wss://media.example.com', token: sub };
    const meeting = { duration: 'unlimited', room: 'r', url: '' };
    const common = {
      session: token,
      engine,
      meeting,
      home: '',
      now: new Date().toISOString(),
      clockOffset: 0,
    };
    if (waits) return { ...common, waiting: { why: 'Ask', since: common.now }, you: { name } } as Waits;
    const you = { identity: sub, name, audio: true, video: true, screen: false, chat: true };
    return {
      ...common,
      you: { ...you, hide: false, hidden: false, history: false, notify: false, presenter: false },
    };
  }

  async ask(session: string): Promise<Verdict> {
    await this.travel();
    const grant = this.read(session);
    if (!grant) throw new SessionError('NotAllowed', '');
    if (grant.meeting !== this.live) return { state: 'ended', redirect: '' };
    if (grant.waits) return { state: this.asks ? 'waiting' : 'admitted' };
    return { state: 'live', hidden: [], waiting: nobody };
  }

  private async travel(): Promise<void> {
    await pause(10, new AbortController().signal);
    if (this.down) throw new SessionError('Unavailable', '');
  }

  private sign(grant: Grant): string {
    const claims = { ...grant, iat: Date.now() / 1000, exp: grant.exp / 1000, jti: ++this.sessions };
    return tokenOf(claims);
  }

  private read(session: string | undefined): Grant | undefined {
    if (session === undefined) return undefined;
    const { sub, meeting, waits, exp } = decodePayload(session);
    const grant = {
      sub: String(sub),
      meeting: Number(meeting),
      waits: waits === true,
      exp: Number(exp) * 1000,
    };
    return grant.exp > Date.now() ? grant : undefined;
  }
}

function tokenOf(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${'s'.repeat(43)}`;
}
