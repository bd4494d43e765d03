import { isObject, parseObject } from '../../boot';
import { parseTime } from '../call/metadata';

export interface Message {
  id: string;
  from: string;
  name: string;
  text: string;
  /** Milliseconds since 1970 on the server's clock. */
  at: number;
  /** The server's proof that the message was written so. With it, participants who join later can read it. */
  stamp?: string;
  /** The identity of the only recipient. Absent when everyone reads the message. */
  to?: string;
  toName?: string;
  /** The local participant wrote it in this tab. After a reload they have another identity. */
  mine?: boolean;
}

export interface Person {
  identity: string;
  name: string;
}

/** A text that is to become a message. */
export interface Outgoing {
  text: string;
  /** Undefined is everyone. */
  to?: Person | undefined;
}

export function parseMessage(payload: Uint8Array): Message | undefined {
  return readMessage(parseObject(new TextDecoder().decode(payload)));
}

/** A message as it comes from the server, with its time as a text. */
export function readMessage(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const { id, from, name, text, at, stamp, to, toName } = value;
  const message = {
    ...{ id, from, name, text, at: parseTime(at) },
    ...(typeof stamp === 'string' && { stamp }),
    ...(to !== undefined && { to, toName }),
  };
  return isMessage(message) ? message : undefined;
}

export function isMessage(value: unknown): value is Message {
  if (!isObject(value)) return false;
  const { id, from, name, text, at, stamp = '', to = '', toName = '' } = value;
  const parts = [id, from, name, text, stamp, to, toName];
  return parts.every((part) => typeof part === 'string') && typeof at === 'number';
}
