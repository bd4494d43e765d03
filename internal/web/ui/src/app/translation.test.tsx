// @vitest-environment jsdom
import { Fragment } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, expect, it, vi } from 'vitest';
import { followTranslations } from './translation';

/** What the page can do to a text: write, add, remove, move, and put elements around it. */
const pages: Record<string, React.ReactNode[]> = {
  'one text': [<p>one</p>, <p>two</p>, <p>two</p>, <p>{''}</p>, <p>three</p>],
  'a text that comes and goes': [<p>{null}</p>, <p>one</p>, <p>{null}</p>, <p>two</p>],
  'texts side by side': [
    <p>
      {1} of {3}
    </p>,
    <p>
      {2} of {3}
    </p>,
    <p>
      {2} of {null}
    </p>,
    <p>
      {null} of {4}
    </p>,
  ],
  'an element before': [
    <p>{null}text</p>,
    <p>{<b>new</b>}text</p>,
    <p>{null}text</p>,
    <p>{<b>old</b>}word</p>,
  ],
  'an element behind': [
    <p>text{null}</p>,
    <p>text{<b>new</b>}</p>,
    <p>text{null}</p>,
    <p>word{<b>old</b>}</p>,
  ],
  'an element between': [
    <p>one{null}two</p>,
    <p>
      one<b>new</b>two
    </p>,
    <p>
      {null}
      <b>new</b>two
    </p>,
    <p>
      one<b>old</b>
      {null}
    </p>,
  ],
  'texts that change their order': [
    [1, 2, 3, 4],
    [4, 3, 2, 1],
    [2, 4],
    [5, 4, 1, 2],
  ].map((order) => order.map((number) => <Fragment key={number}>{`text ${number} `}</Fragment>)),
  'elements that change their order': [['a', 'b', 'c'], ['c', 'a', 'b'], ['b'], ['d', 'b', 'a']].map(
    (order) => order.map((name) => <p key={name}>{name}</p>),
  ),
  'all of it': [
    <p>
      one <b>two</b> three
    </p>,
    <section>
      <p>one</p>two
    </section>,
    <p>one</p>,
    null,
    <p>
      one <b>four</b> three
    </p>,
  ],
};

/** The ways in which translations put their element in place of a text node. */
const translations = {
  replaces: (text: Text, font: HTMLElement) => text.replaceWith(font),
  'inserts, then removes': (text: Text, font: HTMLElement) => {
    text.before(font);
    text.remove();
  },
  'appends, then removes': (text: Text, font: HTMLElement) => {
    text.after(font);
    text.remove();
  },
  wraps: (text: Text, font: HTMLElement) => {
    text.replaceWith(font);
    font.textContent = '';
    font.append(text);
  },
};

const error = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => void error.mockClear());

const settled = () => new Promise((resolve) => setTimeout(resolve));

function textsIn(root: Node): Text[] {
  if (root instanceof Text) return root.data.trim() === '' ? [] : [root];
  if (root instanceof Element && root.localName === translated) return [];
  return [...root.childNodes].flatMap(textsIn);
}

/** What translations put in place of a text. As a string: the element itself is deprecated. */
const translated: string = 'font';

/** Shows each text in capitals. */
function translate(root: Node, replace: (text: Text, font: HTMLElement) => void): void {
  for (const text of textsIn(root)) {
    const font = document.createElement(translated);
    font.textContent = text.data.toUpperCase();
    replace(text, font);
  }
}

function draw() {
  const root = document.createElement('div');
  document.body.append(root);
  const drawn = createRoot(root);
  return {
    root,
    show: async (page: React.ReactNode) => {
      drawn.render(page);
      await settled();
    },
  };
}

for (const [way, replace] of Object.entries(translations)) {
  it.each(Object.entries(pages))(`a translation that ${way}: %s`, async (_, steps) => {
    const [page, original] = [draw(), draw()];
    followTranslations(page.root);
    for (const step of steps) {
      await page.show(step);
      await original.show(step);
      expect(page.root.textContent.toLowerCase()).toBe(original.root.textContent);
      translate(page.root, replace);
      await settled();
      expect(page.root.textContent.toLowerCase()).toBe(original.root.textContent);
    }
    expect(error).not.toHaveBeenCalled();
  });
}

it('the visitor goes back to the original', async () => {
  const { root, show } = draw();
  followTranslations(root);
  const page = (count: number) => (
    <p>
      {count} of <b>three</b>
    </p>
  );
  await show(page(1));
  const replaced = new Map<Element, Text>();
  translate(root, (text, font) => {
    text.replaceWith(font);
    replaced.set(font, text);
  });
  await settled();
  expect(root.textContent).toBe('1 OF THREE');
  for (const [font, text] of replaced) font.replaceWith(text);
  await settled();
  expect(root.textContent).toBe('1 of three');
  await show(page(2));
  expect(root.textContent).toBe('2 of three');
});

it('the page writes while the translation is at work', async () => {
  const { root, show } = draw();
  followTranslations(root);
  await show(<p>one</p>);
  const [text] = textsIn(root);
  translate(root, translations.wraps);
  if (text) text.data = 'two';
  await settled();
  expect(root.textContent).toBe('two');
});
