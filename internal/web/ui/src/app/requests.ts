import { readChoices } from '../media/choices';
import type { Chosen } from '../media/capture';
import type { Route } from '../route';
import { pause } from '../session/backoff';
import { MustWait, mustWait, type Opened, type SessionClient, type Waits } from '../session/client';
import { SessionError, type SessionRequest } from '../session/protocol';
import { delayAfter } from './retry';
import type { Form } from './screen';
import { sleptSince } from './slept';

/** What the address of the page asks for. A ticket holds everything but the name of the room. */
export function requestOf(route: Route, direct: boolean): SessionRequest {
  if (route.kind !== 'join') throw new Error('there is no room in this address');
  const { room, wishes, token } = route;
  const request = { ...wishes, room, name: wishes.name ?? '' };
  if (!token) return request;
  return direct ? { room, name: request.name, ticket: token } : { ...request, token };
}

/** A request with what the participant filled in. */
export function filled(request: SessionRequest, form: Form): SessionRequest {
  const { password, username, userPassword, token } = form;
  const all: SessionRequest = { ...request, name: form.name.trim(), ...(password && { password }) };
  // The form wins over a token in the address, which may have expired.
  if (token.trim()) return { ...all, token: token.trim() };
  if (!username) return all;
  const { token: _, ...rest } = all;
  return { ...rest, username, userPassword };
}

/** The request of a participant whose session is over: whoever presses a button, or opens a link, is not kept out by it. */
export function withoutSession({ session: _, ...request }: SessionRequest): SessionRequest {
  return request;
}

/** How a participant enters. */
export interface How {
  /** They wait until the room is open or has a place. */
  patient?: boolean;
  /** Nobody has pressed anything, or opened a link: the page only goes on with the meeting that it was in, or waited for. */
  byItself?: boolean;
  /** The link was opened in a tab behind another one, or the browser restores tabs that nobody looks at. */
  unseen?: boolean;
}

/** A request that leads into the meeting of its session alone. A request without a session has no such meeting. */
export function renewedIf(byItself: boolean, request: SessionRequest): SessionRequest {
  return byItself && request.session ? { ...request, renews: true } : request;
}

/** Gives a new session for the participant who came in with a request, in place of the previous one. */
export function renewal(client: SessionClient, request: SessionRequest) {
  return async (previous: string): Promise<Opened> => {
    const answer = await client.open(renewedIf(true, { ...request, session: previous }));
    if (mustWait(answer)) throw new MustWait(answer.session);
    return answer;
  };
}

export function rememberedDevices(): Omit<Chosen, 'facing'> {
  const { micId, micLabel, cameraId, cameraLabel } = readChoices();
  return {
    ...(micId && { micId, ...(micLabel && { micLabel }) }),
    ...(cameraId && { cameraId, ...(cameraLabel && { cameraLabel }) }),
  };
}

export interface Asked {
  signal: AbortSignal;
  /** The participant waits until the room is open or has a place. */
  patient: boolean;
  /** The service does not answer, and is asked again. */
  unavailable: (message: string) => void;
  /** The device slept after the participant's press, which may have been for the meeting of another day. */
  slept: () => void;
}

/** Asks with the request of the moment, until the service answers, and a patient participant also until the room is open or has a place. */
export async function openSession(
  client: SessionClient,
  request: () => SessionRequest,
  { signal, patient, unavailable, slept }: Asked,
): Promise<Opened | Waits> {
  for (let attempt = 1; ; attempt++) {
    const began = Date.now();
    try {
      return await client.open(request());
    } catch (error) {
      const delay = error instanceof SessionError ? delayAfter(error, attempt, patient) : undefined;
      if (signal.aborted || !(error instanceof SessionError) || delay === undefined) throw error;
      if (!patient) unavailable(error.message);
      await pause(delay, signal);
      if (!request().renews && sleptSince(began + delay)) {
        slept();
        throw error;
      }
    }
  }
}

/** A part of the page is missing for good. */
export class BrokenPage extends Error {
  constructor(cause: unknown) {
    super('a part of the page did not load', { cause });
  }
}

/** Whether this browser has WebRTC. Lockdown Mode, extensions and policies remove it, or leave something that does nothing. */
export function hasWebRTC(): boolean {
  const { RTCPeerConnection } = window as { RTCPeerConnection?: { prototype?: object } | null };
  return 'getReceivers' in (RTCPeerConnection?.prototype ?? {});
}
