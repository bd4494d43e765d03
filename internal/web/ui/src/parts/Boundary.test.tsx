// @vitest-environment jsdom
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, expect, it, vi } from 'vitest';
import { Boundary } from './Boundary';

const error = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => void error.mockClear());

/** Draws a part that fails as long as `broken` says so, between two that do not. */
async function draw(Part: () => string) {
  const root = document.createElement('div');
  createRoot(root).render(
    <>
      <p>before</p>
      <Boundary>
        <Part />
      </Boundary>
      <p>after</p>
    </>,
  );
  await vi.waitFor(() => expect(root.textContent).toContain('after'));
  return root;
}

const parts = {
  'cannot be drawn': (broken: () => boolean) => () => {
    if (broken()) throw new Error('broken');
    return 'well';
  },
  'fails after it was drawn': (broken: () => boolean) =>
    function Part() {
      useEffect(() => {
        if (broken()) throw new Error('broken');
      });
      return 'well';
    },
};

it.each(Object.entries(parts))('a part that %s leaves the others as they are', async (_, make) => {
  let broken = true;
  const root = await draw(make(() => broken));
  await vi.waitFor(() => expect(root.textContent).toBe('beforeThis part failed.Try againafter'));
  expect(error).toHaveBeenCalledTimes(1);
  broken = false;
  root.querySelector('button')?.click();
  await vi.waitFor(() => expect(root.textContent).toBe('beforewellafter'));
});
