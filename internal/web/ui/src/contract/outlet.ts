import type { Outlet } from '../media/source';

/*
 * What a source relies on of the media server and livekit-client. The same claims are made of both, in a browser, and of the double
 * of the tests.
 */

/** A meeting in which a participant sends a microphone. */
export interface Meeting {
  outlet: Outlet;
  /** Opens another microphone. */
  open: () => Promise<MediaStreamTrack>;
  /** Takes the microphone away that was opened last. */
  unplug: () => void;
  /** What a presenter does. Each resolves when the participant knows of it. */
  mute: () => Promise<void>;
  allow: (allowed: boolean) => Promise<void>;
  /** How often the participant was told that the microphone is muted. */
  mutes: () => number;
  /** Resolves when all that was asked for has come to its end. */
  settled: <T>(asked: Promise<T>) => Promise<T>;
}

/** What happens to a microphone, step by step, with what is true then. */
export async function story({
  outlet,
  open,
  unplug,
  mute,
  allow,
  mutes,
  settled,
}: Meeting): Promise<string[]> {
  const lines: string[] = [];
  let microphone: MediaStreamTrack[] = [];
  const say = (what: string, of = microphone) => {
    const { allowed, connected, publication } = outlet.facts(of);
    lines.push(`${what}: ${publication}, allowed ${allowed}, connected ${connected}, muted ${mutes()} times`);
  };
  const step = async (what: string, act: () => Promise<unknown>) => {
    let how = what;
    try {
      await settled(act());
    } catch {
      how += ' fails';
    }
    say(how);
  };
  say('at first');
  const first = await open();
  microphone = [first];
  await step('publish', () => outlet.publish(microphone));
  await step('withdraw', () => outlet.withdraw());
  await step('withdraw again', () => outlet.withdraw());
  await step('unmute', () => outlet.unmute(microphone));
  microphone = [await open()];
  say('another microphone is open');
  await step('unmute with that one', () => outlet.unmute(microphone));
  say('of the first one', [first]);
  await settled(mute());
  say('a presenter mutes');
  await step('unmute', () => outlet.unmute(microphone));
  unplug();
  await settled(Promise.resolve());
  say('the microphone is taken away');
  microphone = [await open()];
  await step('unmute with another one', () => outlet.unmute(microphone));
  await settled(allow(false));
  say('a presenter forbids it');
  await step('publish', () => outlet.publish(microphone));
  await settled(allow(true));
  say('a presenter allows it');
  await step('publish', () => outlet.publish(microphone));
  return lines;
}

/** What LiveKit and livekit-client do. */
export const wanted = [
  'at first: none, allowed true, connected true, muted 0 times',
  'publish: live, allowed true, connected true, muted 0 times',
  'withdraw: muted, allowed true, connected true, muted 1 times',
  'withdraw again: muted, allowed true, connected true, muted 1 times',
  'unmute: live, allowed true, connected true, muted 1 times',
  'another microphone is open: stale, allowed true, connected true, muted 1 times',
  'unmute with that one: live, allowed true, connected true, muted 1 times',
  'of the first one: stale, allowed true, connected true, muted 1 times',
  'a presenter mutes: muted, allowed true, connected true, muted 2 times',
  'unmute: live, allowed true, connected true, muted 2 times',
  'the microphone is taken away: muted, allowed true, connected true, muted 3 times',
  'unmute with another one: live, allowed true, connected true, muted 3 times',
  'a presenter forbids it: none, allowed false, connected true, muted 4 times',
  'publish fails: none, allowed false, connected true, muted 4 times',
  'a presenter allows it: none, allowed true, connected true, muted 4 times',
  'publish: live, allowed true, connected true, muted 4 times',
];
