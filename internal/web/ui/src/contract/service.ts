import { mustWait, type Opened, type SessionClient, type Waits } from '../session/client';
import { SessionError } from '../session/protocol';

/*
 * What a page that goes on by itself relies on of the service. The same claims are made of the service, over HTTP from a page,
 * and of the double of the tests.
 */

/** A room, and what others do with it. */
export interface Room {
  client: Pick<SessionClient, 'open' | 'ask'>;
  name: string;
  act: (what: Act) => Promise<void>;
  /** Makes a ticket for the meeting that goes on. */
  ticket: () => Promise<string>;
}

/** The meeting ends, another begins, sessions are worth nothing any more, newcomers have to wait, and come in by themselves again. */
export type Act = 'end' | 'begin' | 'lapse' | 'hold' | 'admit';

/** What happens to the sessions of a room, step by step. */
export async function story({ client, name: room, act, ticket }: Room): Promise<string[]> {
  const lines: string[] = [];
  const people: string[] = [];
  const say = (what: string, how: string) => lines.push(`${what}: ${how}`);
  const refused = (error: unknown) => {
    if (!(error instanceof SessionError)) throw error;
    return `refused, ${error.reason}`;
  };
  const who = (answer: Opened | Waits) => {
    if (mustWait(answer)) return 'waits';
    const { identity } = answer.you;
    if (!people.includes(identity)) people.push(identity);
    return `in as guest ${people.indexOf(identity) + 1}`;
  };
  const enter = async (what: string, kept: { session?: string; renews?: true; ticket?: string } = {}) => {
    try {
      const answer = await client.open({ room, name: 'Ann', ...kept });
      say(what, who(answer));
      return answer.session;
    } catch (error) {
      say(what, refused(error));
      return '';
    }
  };
  const renew = (session: string, what = 'a renewal') => enter(what, { session, renews: true });
  const ask = async (session: string) => {
    const verdict = await client.ask(session).catch(refused);
    say('a question', typeof verdict === 'string' ? verdict : verdict.state);
  };
  const all = async (session: string) => {
    await ask(session);
    await renew(session);
    await enter('an entry with the session', { session });
  };

  await renew('e30.e30.e30', 'a renewal without a session');
  const first = await enter('an entry');
  await all(first);
  const theirs = { ticket: await ticket() };
  const withTicket = await enter('an entry with a ticket', theirs);
  await enter('an entry with the same ticket', theirs);
  await act('end');
  await all(first);
  await enter('an entry');
  await enter('an entry with the ticket', theirs);
  await act('begin');
  await all(first);
  await enter('a renewal with the ticket', { ...theirs, session: withTicket, renews: true });
  await enter('an entry with the ticket', theirs);
  const second = await enter('an entry');
  await act('lapse');
  await all(second);
  await act('hold');
  const waits = await enter('an entry where one waits');
  await ask(waits);
  await renew(waits);
  await act('admit');
  await ask(waits);
  await renew(waits);
  await act('hold');
  const more = await enter('an entry where one waits');
  await act('end');
  await act('begin');
  await all(more);
  return lines;
}

export const wanted: readonly string[] = [
  'a renewal without a session: refused, Ended',
  'an entry: in as guest 1',
  'a question: live',
  'a renewal: in as guest 1',
  'an entry with the session: in as guest 1',
  'an entry with a ticket: in as guest 2',
  'an entry with the same ticket: in as guest 3',
  'a question: ended',
  'a renewal: refused, Ended',
  'an entry with the session: refused, Ended',
  'an entry: refused, Ended',
  'an entry with the ticket: refused, Ended',
  'a question: ended',
  'a renewal: refused, Ended',
  'an entry with the session: refused, Ended',
  'a renewal with the ticket: refused, Ended',
  'an entry with the ticket: refused, Ended',
  'an entry: in as guest 4',
  'a question: refused, NotAllowed',
  'a renewal: refused, Ended',
  'an entry with the session: in as guest 5',
  'an entry where one waits: waits',
  'a question: waiting',
  'a renewal: waits',
  'a question: admitted',
  'a renewal: in as guest 6',
  'an entry where one waits: waits',
  'a question: ended',
  'a renewal: refused, Ended',
  'an entry with the session: refused, Ended',
];
