import { SessionClient } from '../session/client';
import { story } from './service';

export { wanted } from './service';

/** What the test is to do from outside, until it calls `done`, for a ticket with it. */
declare global {
  var asks: string | undefined;
  var done: (ticket: string) => void;
}

const ask = (what: string) =>
  new Promise<string>((resolve) => {
    globalThis.asks = what;
    globalThis.done = (ticket) => {
      globalThis.asks = undefined;
      resolve(ticket);
    };
  });

/** Tells the story of the sessions of a room, on a page of the service. */
export function tell(name: string): Promise<string[]> {
  return story({
    client: new SessionClient(document.baseURI),
    name,
    act: async (what) => {
      await ask(what);
    },
    ticket: () => ask('ticket'),
  });
}
