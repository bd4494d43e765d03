import { httpUrl, isObject } from '../boot';
import { clockOffset } from './clock';
import {
  nobody,
  reasons,
  SessionError,
  type Act,
  type ConnectionTest,
  type History,
  type Outcome,
  type Reaction,
  type Session,
  type SessionRequest,
  type Verdict,
  type Waiting,
  type WaitingPeople,
  type WaitingPerson,
  type Watcher,
} from './protocol';
import { withTidySecrets } from './tidy';

/** A session with the distance between its clock and ours. */
export interface Opened extends Session {
  /** Milliseconds by which the server's clock is ahead. */
  clockOffset: number;
}

/** The answer for a participant who has to wait. */
export interface Waits extends Waiting {
  clockOffset: number;
}

/** A participant who has not been in has to wait now: the meeting was closed to them while they were on the way in. */
export class MustWait extends Error {
  constructor(readonly session: string) {
    super('the participant has to wait');
  }
}

export const mustWait = (answer: Opened | Waits): answer is Waits => 'waiting' in answer;

/** Milliseconds. A request that hangs is as bad as one that fails: the caller's retry loop takes over. */
const requestTimeout = 10_000;

/** The gateway's session endpoints, relative to the page's base. */
export class SessionClient {
  constructor(private readonly base: string) {}

  async open(request: SessionRequest): Promise<Opened | Waits> {
    let sentAt = 0;
    const session = (await withTidySecrets(request, (body) => {
      sentAt = Date.now();
      return this.read('session', { method: 'POST', body });
    })) as Session | Waiting;
    const serverNow = Date.parse(session.now);
    return {
      ...session,
      clockOffset: Number.isNaN(serverNow) ? 0 : clockOffset(serverNow, sentAt, Date.now()),
    };
  }

  /** Asks for a room to test the connection in, with what the page would show to enter the meeting. */
  async openTest(request: SessionRequest): Promise<ConnectionTest> {
    return (await withTidySecrets(request, (body) =>
      this.read('session/test', { method: 'POST', body }),
    )) as ConnectionTest;
  }

  async ask(session: string): Promise<Verdict> {
    const answer = await this.read('session', { method: 'GET', session });
    if (answer.state === 'removed') return { state: 'removed' };
    if (answer.state === 'ended') return { state: 'ended', redirect: httpUrl(answer.redirect) ?? '' };
    if (answer.state === 'waiting' || answer.state === 'admitted') return { state: answer.state };
    return {
      state: 'live',
      ...(typeof answer.session === 'string' && { session: answer.session }),
      hidden: Array.isArray(answer.hidden) ? answer.hidden.filter(isWatcher) : [],
      waiting: waitingOf(answer.waiting),
    };
  }

  /** Says something to everyone, or to one participant: then it gives the message as it was sent. */
  async chat(session: string, text: string, to?: string): Promise<unknown> {
    const body = to === undefined ? { text } : { text, to };
    return await this.call('session/chat', { method: 'POST', session, body });
  }

  /** Asks one participant for the messages of this meeting. They come over the media server. */
  async askForHistory(session: string, from: string): Promise<void> {
    await this.call('session/history', { method: 'POST', session, body: { from } });
  }

  async passHistoryOn(session: string, history: History): Promise<void> {
    await this.call('session/history/messages', { method: 'POST', session, body: history });
  }

  /** One message of a participant who waits, to the presenters. Gives the session that holds it. */
  async message(session: string, text: string): Promise<string> {
    const answer = await this.call('session/message', { method: 'POST', session, body: { text } });
    return typeof answer?.session === 'string' ? answer.session : session;
  }

  async hand(session: string, raised: boolean): Promise<void> {
    await this.call('session/hand', { method: 'POST', session, body: { raised } });
  }

  async react(session: string, reaction: Reaction): Promise<void> {
    await this.call('session/reaction', { method: 'POST', session, body: { reaction } });
  }

  async act(session: string, act: Act): Promise<Outcome> {
    const { muted, saved } = (await this.call('session/act', { method: 'POST', session, body: act })) ?? {};
    return { ...(typeof muted === 'number' && { muted }), ...(saved === true && { saved }) };
  }

  /** A call whose answer counts. */
  private async read(...call: Parameters<SessionClient['call']>): Promise<Record<string, unknown>> {
    const answer = await this.call(...call);
    if (!answer) throw new SessionError('Unavailable', '');
    return answer;
  }

  private async call(
    path: string,
    init: { method: string; session?: string; body?: unknown },
  ): Promise<Record<string, unknown> | undefined> {
    const headers = new Headers({ Accept: 'application/json' });
    if (init.body !== undefined) headers.set('Content-Type', 'application/json');
    // Not in Authorization: there the browser shows a proxy in front the password that the proxy asks for.
    if (init.session !== undefined) headers.set('Convene-Session', init.session);
    let response: Response;
    try {
      response = await fetch(new URL(path, this.base), {
        method: init.method,
        headers,
        ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
        credentials: 'same-origin',
        cache: 'no-store',
        signal: lapsing(),
      });
    } catch (cause) {
      throw unreachable(cause);
    }
    if (response.status === 204) return undefined;
    const body: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw refusal(response, body);
    // A proxy in front may answer with a page of its own, as one to log in, and call it a success.
    if (!isObject(body)) throw new SessionError('Unavailable', '');
    return body;
  }
}

/** `AbortSignal.timeout` is missing in browsers that are a little older than those that are promised, and all else works there. */
function lapsing(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), requestTimeout);
  return controller.signal;
}

function waitingOf(value: unknown): WaitingPeople {
  if (!isObject(value) || typeof value.count !== 'number') return nobody;
  const people = Array.isArray(value.people) ? value.people.filter(isWaiting) : [];
  return { count: value.count, people };
}

function isWatcher(value: unknown): value is Watcher {
  return isObject(value) && typeof value.identity === 'string' && typeof value.name === 'string';
}

function isWaiting(value: unknown): value is WaitingPerson {
  return isObject(value) && isWatcher(value) && 'since' in value && typeof value.since === 'string';
}

function unreachable(cause: unknown): SessionError {
  const error = new SessionError('Unavailable', '');
  error.cause = cause;
  return error;
}

/** Reads an error answer. One that is not the gateway's own, as a proxy's page, says nothing about the meeting. */
export function refusal(response: Pick<Response, 'status' | 'headers'>, body: unknown): SessionError {
  const fields = isObject(body) ? body : {};
  const known = reasons.find((reason) => reason === fields.reason);
  const message = known && typeof fields.error === 'string' ? fields.error : '';
  const redirect = httpUrl(fields.redirect);
  const home = httpUrl(fields.home);
  if (known === 'NotFound' && !home) return new SessionError('Unavailable', message, { nowhere: true });
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  return new SessionError(known ?? 'Unavailable', message, {
    ...(redirect && { redirect }),
    ...(home && { home }),
    ...(Number.isFinite(seconds) && seconds >= 0 && { retryAfterSeconds: seconds }),
  });
}
