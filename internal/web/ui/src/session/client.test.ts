import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal, SessionClient } from './client';

const answer = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: new Headers(headers),
});

describe('refusal', () => {
  it('reads what the gateway says', () => {
    const body = {
      error: 'It is over.',
      reason: 'Ended',
      redirect: 'https://a.example/',
      home: 'https://h.example/',
    };
    const error = refusal(answer(410), body);
    expect(error).toMatchObject({
      reason: 'Ended',
      message: 'It is over.',
      details: { redirect: 'https://a.example/', home: 'https://h.example/' },
    });
  });

  it('drops a redirect that is not http(s)', () => {
    const error = refusal(answer(410), { reason: 'Ended', redirect: 'javascript:alert(1)' });
    expect(error.details).toEqual({});
  });

  it.each([400, 401, 403, 404, 407, 410, 413, 429, 431, 500, 502, 503])(
    'takes a %i that is not the gateway’s for no answer',
    (status) => {
      for (const body of ['<html>', undefined, { error: 'Log in first.' }, { reason: 'Forbidden' }])
        expect(refusal(answer(status), body)).toMatchObject({ reason: 'Unavailable', message: '' });
    },
  );

  it('knows how long to wait', () => {
    const error = refusal(answer(429, { 'Retry-After': '7' }), { reason: 'TooManyAttempts' });
    expect(error.details.retryAfterSeconds).toBe(7);
    expect(error.passing).toBe(false);
  });
});

describe('a page of a proxy that calls itself a success', () => {
  afterEach(() => void vi.unstubAllGlobals());
  const client = new SessionClient('https://meet.example/');
  const calls: Record<string, () => Promise<unknown>> = {
    open: () => client.open({ room: 'daily', name: 'Ada' }),
    openTest: () => client.openTest({ room: 'daily', name: 'Ada' }),
    ask: () => client.ask('session'),
    chat: () => client.chat('session', 'hello'),
    askForHistory: () => client.askForHistory('session', 'ada-1'),
    passHistoryOn: () =>
      client.passHistoryOn('session', { for: 'ada-1', messages: [], stamp: '', until: '' }),
    message: () => client.message('session', 'hello'),
    hand: () => client.hand('session', true),
    react: () => client.react('session', 'applause'),
    act: () => client.act('session', { action: 'lock' }),
  };

  it.each(Object.entries(calls))('is no answer to %s', async (_, call) => {
    for (const page of ['<html>Log in</html>', '', '"yes"']) {
      vi.stubGlobal('fetch', () => Promise.resolve(new Response(page, { status: 200 })));
      await expect(call()).rejects.toMatchObject({ reason: 'Unavailable' });
    }
  });

  it('is about every call', () => {
    const all = Object.getOwnPropertyNames(SessionClient.prototype);
    expect(Object.keys(calls)).toEqual(all.filter((name) => !['constructor', 'read', 'call'].includes(name)));
  });
});
