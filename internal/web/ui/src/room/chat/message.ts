import { isObject, parseObject } from '../../boot';
import { parseTime } from '../call/metadata';

export interface Message {
  id: string;
  from: string;
  name: string;
  text: string;
  /** Milliseconds since 1970 on the server's clock. */
  at: number;
}

export function parseMessage(payload: Uint8Array): Message | undefined {
  const { id, from, name, text, at } = parseObject(new TextDecoder().decode(payload));
  const message = { id, from, name, text, at: parseTime(at) };
  return isMessage(message) ? message : undefined;
}

export function isMessage(value: unknown): value is Message {
  if (!isObject(value)) return false;
  const { id, from, name, text, at } = value;
  return [id, from, name, text].every((part) => typeof part === 'string') && typeof at === 'number';
}
