import { attempt } from '../app/storage';
import { parseObject } from '../boot';

/** What the participant chose last time, kept in this browser alone. */
export interface Choices {
  name: string;
  mic: boolean;
  camera: boolean;
  micId?: string | undefined;
  micLabel?: string | undefined;
  cameraId?: string | undefined;
  cameraLabel?: string | undefined;
  speakerId?: string | undefined;
  speakerLabel?: string | undefined;
  /** Whether single keys switch things in a meeting. */
  shortcuts: boolean;
  /** Whether the meeting makes sounds of its own, as for a raised hand. */
  sounds: boolean;
  /** What a screen reader does not say of the others. */
  unspoken: readonly unknown[];
  /** What the others see behind the participant. */
  background?: string;
  /** Whether the noise around the participant is filtered out. */
  quiet: boolean;
  /** How the participant likes to look at a meeting. */
  speakerView: boolean;
  selfHidden: boolean;
  captions: boolean;
  /** How much of the cameras of others comes in. */
  pictures: 'all' | 'less' | 'none';
  /** The language that was chosen in the menu, by its tag. */
  language?: string;
}

const key = 'convene.choices';

export function readChoices(): Choices {
  const kept = parseObject(attempt(() => localStorage.getItem(key)) ?? '');
  return {
    name: typeof kept.name === 'string' ? kept.name : '',
    mic: kept.mic !== false,
    camera: kept.camera !== false,
    shortcuts: kept.shortcuts !== false,
    sounds: kept.sounds !== false,
    unspoken: Array.isArray(kept.unspoken) ? kept.unspoken : [],
    quiet: kept.quiet === true,
    speakerView: kept.speakerView === true,
    selfHidden: kept.selfHidden === true,
    captions: kept.captions === true,
    pictures: kept.pictures === 'less' || kept.pictures === 'none' ? kept.pictures : 'all',
    ...(typeof kept.micId === 'string' && { micId: kept.micId }),
    ...(typeof kept.micLabel === 'string' && { micLabel: kept.micLabel }),
    ...(typeof kept.cameraId === 'string' && { cameraId: kept.cameraId }),
    ...(typeof kept.cameraLabel === 'string' && { cameraLabel: kept.cameraLabel }),
    ...(typeof kept.speakerId === 'string' && { speakerId: kept.speakerId }),
    ...(typeof kept.speakerLabel === 'string' && { speakerLabel: kept.speakerLabel }),
    ...(typeof kept.background === 'string' && { background: kept.background }),
    ...(typeof kept.language === 'string' && { language: kept.language }),
  };
}

export function keepChoices(change: Partial<Choices>): void {
  attempt(() => localStorage.setItem(key, JSON.stringify({ ...readChoices(), ...change })));
}
