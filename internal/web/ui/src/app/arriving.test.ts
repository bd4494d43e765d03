import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { settled } from '../media/fakeDevices';
import { SessionError, type SessionRequest } from '../session/protocol';
import { browse, devices, enter, joining, later, lets, wait, type Page } from './fakePage';
import type { Surroundings } from './surroundings';

beforeEach(browse);
afterEach(() => void vi.unstubAllGlobals());

describe('the sign of who comes in by themselves', () => {
  it.each<[string, boolean, (page: Page) => Promise<void>]>([
    ['a press', false, enter],
    [
      'a wait at the door',
      true,
      async (page) => {
        await wait(page);
        page.news.resolve({ kind: 'ask' });
        await settled();
        await page.answer(lets);
      },
    ],
    [
      'a wait for the room',
      true,
      async ({ flow, refuse, answer, answers }) => {
        await refuse(new SessionError('NotFound', ''));
        answers.push(later());
        flow.waitHere();
        await settled();
        await answer(lets);
      },
    ],
  ])('%s', async (_, waited, comesIn) => {
    const page = await joining();
    await comesIn(page);
    expect(page.calls.map((call) => call.waited)).toEqual([waited]);
    page.flow.cancel();
  });

  it('is seen before, and what is switched meanwhile counts', async () => {
    const requests: SessionRequest[] = [];
    const answers = [later<unknown>(), later<unknown>()];
    const open = (request: SessionRequest) => answers[requests.push(request) - 1]?.promise;
    const { flow } = await joining({ client: { open } as unknown as Surroundings['client'] });
    answers[0]?.reject(new SessionError('Full', ''));
    await settled();
    expect(devices.live).toEqual([]);
    flow.waitHere();
    const screen = flow.screen.get();
    const media = screen.kind === 'failure' ? screen.waits?.media : undefined;
    expect(media?.state.get()).toMatchObject({ mic: true, camera: true });
    void media?.camera.press(false);
    answers[1]?.resolve(lets);
    await settled();
    flow.stopWaiting();
    expect(requests.map(({ audio, video }) => [audio, video])).toEqual([
      [true, true],
      [true, false],
    ]);
    flow.cancel();
  });
});
