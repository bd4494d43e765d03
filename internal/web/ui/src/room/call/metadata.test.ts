import { describe, expect, it } from 'vitest';
import { noFacts, parseMetadata } from './metadata';

describe('parseMetadata', () => {
  it.each([
    { reason: 'none', metadata: undefined, want: { ended: false, redirect: '' } },
    { reason: 'empty', metadata: '', want: { ended: false, redirect: '' } },
    { reason: 'no JSON', metadata: 'x', want: { ended: false, redirect: '' } },
    {
      reason: 'an end with a redirect',
      metadata: '{"ended":true,"redirect":"https://a.example/x"}',
      want: { ended: true, redirect: 'https://a.example/x' },
    },
    {
      reason: 'a redirect that is a script',
      metadata: '{"ended":true,"redirect":"javascript:alert(1)"}',
      want: { ended: true, redirect: '' },
    },
    {
      reason: 'ended must be true itself',
      metadata: '{"ended":"true"}',
      want: { ended: false, redirect: '' },
    },
    {
      reason: 'an expiry',
      metadata: '{"expiresAt":"2030-01-01T00:00:00Z"}',
      want: { ended: false, redirect: '', expiresAt: Date.UTC(2030, 0, 1) },
    },
    { reason: 'a broken expiry', metadata: '{"expiresAt":"soon"}', want: { ended: false, redirect: '' } },
    {
      reason: 'what only presenters may',
      metadata:
        '{"policy":{"chat":"Presenters","microphone":"Presenters","camera":"Everyone","speech":"Presenters"}}',
      want: { presentersOnly: ['microphone', 'chat'] },
    },
    { reason: 'a policy that is none', metadata: '{"policy":["chat"]}', want: {} },
    {
      reason: 'a lock',
      metadata: '{"locked":true,"admission":"Ask"}',
      want: { locked: true, admission: 'Ask' },
    },
    { reason: 'an unknown admission', metadata: '{"locked":"yes","admission":"Never"}', want: {} },
  ])('$reason', ({ metadata, want }) => {
    expect(parseMetadata(metadata)).toEqual({ ...noFacts, ...want });
  });
});
