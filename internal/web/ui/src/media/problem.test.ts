import { afterEach, describe, expect, it, vi } from 'vitest';
import { stubPage } from './fakeDevices';
import { factsOf, problemOf, type Facts } from './problem';

afterEach(() => void vi.unstubAllGlobals());

const plain: Facts = {
  secure: true,
  supported: true,
  embedded: false,
  policy: undefined,
  permission: 'prompt',
};

const error = (name: string, message = '') => Object.assign(new Error(message), { name });
const refused = error('NotAllowedError', 'Permission denied');

describe('why there is no device', () => {
  it.each<[string, Error, Partial<Facts>, string]>([
    ['a refusal', refused, {}, 'denied'],
    ['an earlier refusal', refused, { policy: true, permission: 'denied' }, 'denied'],
    ['an insecure page', new TypeError(), { secure: false, supported: false }, 'insecure'],
    ['a browser in another program', new TypeError(), { supported: false }, 'unsupported'],
    ['a policy of the server', refused, { policy: false }, 'policy'],
    ['an iframe without the permission', refused, { policy: false, embedded: true }, 'embedded'],
    ['an iframe in a browser that does not tell', refused, { embedded: true }, 'embedded'],
    ['a refusal in an iframe', refused, { policy: true, embedded: true }, 'denied'],
    ['the system', error('NotAllowedError', 'Permission denied by system'), {}, 'system'],
    ['the system behind a permission', refused, { permission: 'granted' }, 'system'],
    ['the system behind an iframe', refused, { permission: 'granted', embedded: true }, 'system'],
    ['a document without devices', error('SecurityError'), {}, 'denied'],
    ['no device', error('NotFoundError'), {}, 'absent'],
    ['no such device', error('OverconstrainedError'), {}, 'absent'],
    ['another program', error('NotReadableError'), {}, 'busy'],
    ['a device that does not start', error('AbortError'), {}, 'busy'],
    ['another error', new TypeError(), {}, 'failed'],
    ['no error at all', undefined as unknown as Error, {}, 'failed'],
  ])('%s', (_, found, facts, want) => {
    expect(problemOf(found, { ...plain, ...facts })).toBe(want);
  });
});

describe('what the page knows', () => {
  const media = { getUserMedia: () => undefined, getDisplayMedia: () => undefined };
  const permissions = { query: ({ name }: { name: string }) => Promise.resolve({ state: `of ${name}` }) };

  it('in a tab of Chromium', async () => {
    stubPage({ forbidden: ['camera'] });
    vi.stubGlobal('navigator', { mediaDevices: media, permissions });
    const permission = 'of microphone';
    expect(await factsOf('microphone')).toEqual({ ...plain, policy: true, permission });
    expect(await factsOf('camera')).toMatchObject({ policy: false, embedded: false });
  });

  it('in a browser that tells neither policy nor permission', async () => {
    stubPage({ embedded: true });
    const query = () => Promise.reject(new TypeError());
    vi.stubGlobal('navigator', { mediaDevices: media, permissions: { query } });
    expect(await factsOf('camera')).toEqual({ ...plain, embedded: true, permission: undefined });
    // Else a participant who closes the browser's dialog would read of the page around.
    expect(await factsOf('display-capture')).toMatchObject({ policy: true });
  });

  it('on a page without https, and on a telephone', async () => {
    stubPage({ secure: false });
    vi.stubGlobal('navigator', {});
    expect(await factsOf('camera')).toMatchObject({ secure: false, supported: false, permission: undefined });
    stubPage();
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: media.getUserMedia } });
    expect(await factsOf('camera')).toMatchObject({ supported: true });
    expect(await factsOf('display-capture')).toMatchObject({ supported: false });
  });
});
