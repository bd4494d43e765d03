import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseOf, linkTo, permissions } from './embed';
import { buttons, defaults, readOptions, textOf, withDefaults, type WidgetOptions } from './widgetOptions';

describe('linkTo', () => {
  const base = baseOf('https://meet.example.com/video/js/embed.js');

  it('is below the base path of the service', () => {
    expect(base.href).toBe('https://meet.example.com/video/');
    expect(linkTo(base, { room: 'a&b c' }).href).toBe('https://meet.example.com/video/join?room=a%26b+c');
  });
  it('has the options that are given', () => {
    const link = linkTo(base, {
      room: 'r',
      name: 'Ada',
      avatar: 0,
      audio: 0,
      video: true,
      screen: 'false',
      chat: 1,
      token: null,
    });
    expect(Object.fromEntries(link.searchParams)).toEqual({
      room: 'r',
      name: 'Ada',
      audio: '0',
      video: 'true',
      screen: 'false',
      chat: '1',
    });
  });
  it('has nothing that a link cannot ask for', () => {
    const more = { room: 'r', roomPassword: 'secret', hide: 1, width: '1px' };
    expect(linkTo(base, more).search).toBe('?room=r');
  });
});

describe('a widget', () => {
  it('reads its attributes', () => {
    const read = readOptions({ theme: 'light', position: 'top-left', checkOnline: 'true', heading: 'Hi' });
    expect(withDefaults(read)).toEqual({
      ...defaults,
      theme: 'light',
      supportWidget: {
        ...defaults.supportWidget,
        position: 'top-left',
        checkOnlineStatus: true,
        customMessages: { ...defaults.supportWidget.customMessages, heading: 'Hi' },
      },
    });
  });
  it('has the buttons that its attributes name, and no others', () => {
    const offered = (named: string | undefined) =>
      buttons(withDefaults(readOptions({ buttons: named }))).map(({ key }) => key);
    expect(offered('audio,chat')).toEqual(['audio', 'chat']);
    expect(offered(' Video , nonsense')).toEqual(['video']);
    expect(offered(undefined)).toEqual(['audio', 'video', 'screen', 'chat', 'join']);
    expect(offered('')).toEqual(['audio', 'video', 'screen', 'chat', 'join']);
  });
  it('takes null for what is not given, and shares nothing with the defaults', () => {
    const options = withDefaults({ theme: null, supportWidget: null } as unknown as WidgetOptions);
    expect(options).toEqual(defaults);
    options.supportWidget.isOnline = false;
    expect(defaults.supportWidget.isOnline).toBe(true);
  });
  it('offers what is not switched off', () => {
    const offered = buttons(withDefaults({ supportWidget: { buttons: { screen: false, chat: false } } }));
    expect(offered.map(({ key }) => key)).toEqual(['audio', 'video', 'join']);
  });
  it('shows text as it is', () => expect(textOf('plain')).toBe('plain'));
});

it('hands on what the documents say, and what each permission is for', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../../docs/embedding.md'), 'utf8');
  expect(/allow="([^"]*)"/.exec(docs)?.[1]).toBe(permissions);
  const explained = docs.slice(docs.indexOf('| permission |'), docs.indexOf('An iframe with `sandbox`'));
  for (const name of permissions.split('; ')) expect(explained).toContain(`\`${name}\``);
});
