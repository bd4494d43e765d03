import { Store } from '../app/store';
import { keepChoices, readChoices } from './choices';

/** The loudspeaker that all sounds of the page come out of. */
export interface Speaker {
  /** As the browser names it in this visit. Undefined is the browser's own choice. */
  id: string | undefined;
  /** The name of the chosen one while it is gone. */
  gone: string | undefined;
}

export const speaker = new Store<Speaker>({ id: readChoices().speakerId, gone: undefined });

/** Sounds come out of another loudspeaker from now on, and at the next visit. Undefined is the browser's own choice. */
export async function chooseSpeaker(id: string | undefined): Promise<void> {
  const label = (await speakers()).find(({ deviceId }) => deviceId === id)?.label;
  keepChoices({ speakerId: id, speakerLabel: label });
  speaker.set({ id, gone: undefined });
}

/** Looks again whether the chosen loudspeaker is there: at first the browser tells nothing, and later it may be unplugged. */
export async function lookForSpeaker(): Promise<void> {
  const { speakerId, speakerLabel } = readChoices();
  const all = await speakers();
  if (speakerId === undefined || all.length === 0) return;
  // In private windows a device has another id at each visit.
  const found =
    all.find(({ deviceId }) => deviceId === speakerId) ?? all.find(({ label }) => label === speakerLabel);
  const id = found?.deviceId;
  const gone = found ? undefined : speakerLabel;
  const now = speaker.get();
  if (now.id !== id || now.gone !== gone) speaker.set({ id, gone });
}

/** Has all sounds follow the chosen loudspeaker when it is unplugged, and when it is back. */
export function followSpeaker(): void {
  if ('mediaDevices' in navigator)
    navigator.mediaDevices.addEventListener('devicechange', () => void lookForSpeaker());
}

/** The browsers that let a page choose the loudspeaker have this. */
interface Sink {
  setSinkId?: (id: string) => Promise<void>;
}

/** Has a sound of the page come out of the chosen loudspeaker, where the browser can do that. */
export async function playOnSpeaker(audio: AudioContext): Promise<void> {
  await (audio as Sink).setSinkId?.(speaker.get().id ?? '').catch(() => undefined);
}

async function speakers(): Promise<MediaDeviceInfo[]> {
  if (!('mediaDevices' in navigator)) return [];
  const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  return all.filter(({ kind, deviceId, label }) => kind === 'audiooutput' && deviceId !== '' && label !== '');
}
