import { describe, expect, it } from 'vitest';
import { refusal } from './client';

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
