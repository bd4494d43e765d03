import { Track } from 'livekit-client';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAllowed, rightOf, type Right } from './permissions';

interface Row {
  decided: string;
  everyone: Right;
  presenters: Right;
  presenter: Right;
}

/** The server's table of the microphone. */
const rows = JSON.parse(readFileSync('../../meeting/testdata/rights.json', 'utf8')) as Row[];

/** A participant as the server makes one who may speak or not. */
function participant(right: Right, presenter: boolean) {
  const sources = [Track.Source.Camera, ...(isAllowed(right) ? [Track.Source.Microphone] : [])];
  return {
    permissions: {
      canPublish: true,
      canPublishSources: sources.map((source) => Track.sourceToProto(source)),
    },
    attributes: {
      ...(presenter && { presenter: 'true' }),
      ...(right === 'locked' && { held: 'microphone,screen' }),
    },
  };
}

/** A telephone as the server makes one: it keeps LiveKit's permission. */
function telephone(right: Right) {
  return {
    permissions: { canPublish: true, canPublishSources: [] },
    attributes: {
      ...(!isAllowed(right) && { forbidden: 'microphone,camera' }),
      ...(right === 'locked' && { held: 'microphone' }),
    },
  };
}

test.each(rows)('of a telephone, too: $decided', (row) => {
  expect(rightOf(telephone(row.everyone), 'microphone', [])).toBe(row.everyone);
  expect(rightOf(telephone(row.presenters), 'microphone', ['microphone'])).toBe(row.presenters);
});

test.each(rows)('the page reads what the server decides: $decided', (row) => {
  expect(rightOf(participant(row.everyone, false), 'microphone', [])).toBe(row.everyone);
  expect(rightOf(participant(row.presenters, false), 'microphone', ['microphone', 'chat'])).toBe(
    row.presenters,
  );
  for (const rule of [[], ['microphone'] as const])
    expect(rightOf(participant(row.presenter, true), 'microphone', rule)).toBe(row.presenter);
});

test('before the server has said anything, all is open', () => {
  expect(rightOf({ permissions: undefined, attributes: {} }, 'camera', [])).toBe('open');
});
