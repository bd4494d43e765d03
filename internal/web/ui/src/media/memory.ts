import { attempt, type Tab } from '../app/storage';
import { parseObject } from '../boot';

/** How each device was last switched in a meeting. Undefined when it was not switched. */
export interface DeviceStates {
  mic?: boolean;
  camera?: boolean;
}

/**
 * What the participant last switched in a room, in this tab. After a reload or a return, a device is on only when the
 * link (or the form) wants it on and the participant had not switched it off: a reload must not open a microphone by
 * surprise.
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

  /** The same wish, without the devices that were off. */
  restrict<T extends { audio: boolean; video: boolean }>(wanted: T): T {
    const { mic = true, camera = true } = this.read();
    return { ...wanted, audio: wanted.audio && mic, video: wanted.video && camera };
  }
}
