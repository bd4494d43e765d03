import { describe, expect, it } from 'vitest';
import { httpUrl, parseBoot } from './boot';

const base = 'https://meet.example/a/';

describe('parseBoot', () => {
  it.each([
    {
      reason: 'everything given',
      json: '{"brand":{"name":"Acme","logo":"https://acme.example/l.svg"},"home":"https://acme.example/","embedParents":["https://x.example"],"endCountdown":0}',
      want: {
        endCountdown: 0,
        brand: { name: 'Acme', logo: 'https://acme.example/l.svg' },
        home: 'https://acme.example/',
        embedParents: ['https://x.example'],
      },
    },
    {
      reason: 'the placeholder that a server left alone',
      json: '__BOOT__',
      want: { brand: { name: 'Convene' }, home: base, embedParents: [] },
    },
    {
      reason: 'values of the wrong kind',
      json: '{"brand":{"name":" ","logo":"javascript:x"},"home":7,"embedParents":[1,"https://y.example"],"endCountdown":-1}',
      want: { brand: { name: 'Convene' }, home: base, embedParents: ['https://y.example'] },
    },
  ])('$reason', ({ json, want }) => {
    expect(parseBoot(json, base)).toEqual(want);
  });
});

describe('httpUrl', () => {
  it.each([
    ['https://a.example', 'https://a.example/'],
    ['http://a.example/x?y#z', 'http://a.example/x?y#z'],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['//a.example', undefined],
    ['/path', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (value, want) => {
    expect(httpUrl(value)).toBe(want);
  });
});
