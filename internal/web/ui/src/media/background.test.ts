import { afterEach, describe, expect, it, vi } from 'vitest';

/** A browser with or without what painting needs, and with a choice that it kept. */
async function browser({ kept, webgl = true }: { kept?: string; webgl?: boolean }) {
  vi.resetModules();
  const storage = new Map([['convene.choices', JSON.stringify({ background: kept })]]);
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
  });
  class Canvas {
    captureStream(): void {
      throw new Error('nothing is painted in this test');
    }
  }
  vi.stubGlobal('HTMLCanvasElement', Canvas);
  if (webgl) vi.stubGlobal('WebGL2RenderingContext', Canvas);
  return import('./background');
}

afterEach(() => void vi.unstubAllGlobals());

describe('the background', () => {
  it.each([
    ['sea', true, 'sea'],
    [undefined, true, 'camera'],
    ['a meadow', true, 'camera'],
    // The choice stays for a browser that can.
    ['sea', false, 'camera'],
  ])('kept as %s begins, with WebGL %s, as %s', async (kept, webgl, want) => {
    const { chosenBackground } = await browser({ ...(kept && { kept }), webgl });
    expect(chosenBackground.get()).toBe(want);
  });

  it('is kept for the next meeting', async () => {
    const { chooseBackground, chosenBackground, replacesBackground } = await browser({});
    expect(replacesBackground()).toBe(false);
    chooseBackground('blur');
    expect([chosenBackground.get(), replacesBackground()]).toEqual(['blur', true]);
    expect(JSON.parse(localStorage.getItem('convene.choices') ?? '')).toMatchObject({ background: 'blur' });
  });
});
