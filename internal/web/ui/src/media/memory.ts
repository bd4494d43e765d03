import { attempt, type Tab } from '../app/storage';
import { parseObject } from '../boot';

/** How each device was last switched in a meeting; undefined where it was not. */
export interface DeviceStates {
  mic?: boolean;
  camera?: boolean;
}

/**
 * What was last switched in a room, in this tab. After a reload or a return, a device is on only where the link (or the form) wants
 * it on and this does not say that it was switched off: nobody expects a reload to open a microphone.
 */
export class DeviceMemory {
  private readonly key: string;

  constructor(
    private readonly storage: () => Tab,
    room: string,
  ) {
    this.key = `convene.devices ${room}`;
  }

  read(): DeviceStates {
    const { mic, camera } = parseObject(attempt(() => this.storage().getItem(this.key)) ?? '');
    return {
      ...(typeof mic === 'boolean' && { mic }),
      ...(typeof camera === 'boolean' && { camera }),
    };
  }

  keep(change: DeviceStates): void {
    attempt(() => this.storage().setItem(this.key, JSON.stringify({ ...this.read(), ...change })));
  }

  /** The same wish, without what was off. */
  restrict<T extends { audio: boolean; video: boolean }>(wanted: T): T {
    const { mic = true, camera = true } = this.read();
    return { ...wanted, audio: wanted.audio && mic, video: wanted.video && camera };
  }
}
