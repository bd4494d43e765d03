import { ParticipantEvent, Track } from 'livekit-client';
import { createRoom } from '../room/call/createRoom';
import { DeviceOutlet } from '../room/call/outlets';
import { story } from './outlet';

export { wanted } from './outlet';

/** What the test is to do from outside, until it has. */
declare global {
  var asks: string | undefined;
}

/** Tells the story of a microphone in a room of a media server. */
export async function tell(url: string, token: string): Promise<string[]> {
  const room = createRoom();
  await room.connect(url, token);
  const me = room.localParticipant;
  let mutes = 0;
  me.on(ParticipantEvent.TrackMuted, () => mutes++);
  const asked = async (what: string, event: ParticipantEvent) => {
    const known = new Promise<void>((resolve) =>
      me.once(event as ParticipantEvent.TrackMuted, () => resolve()),
    );
    globalThis.asks = what;
    await known;
    globalThis.asks = undefined;
  };
  let last: MediaStreamTrack | undefined;
  const lines = await story({
    outlet: new DeviceOutlet(room, Track.Source.Microphone),
    open: async () => {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const [track] = stream.getAudioTracks();
      if (!track) throw new Error('no microphone');
      last = track;
      return track;
    },
    unplug: () => {
      last?.stop();
      last?.dispatchEvent(new Event('ended'));
    },
    mute: () => asked('mute', ParticipantEvent.TrackMuted),
    allow: (allowed) => asked(allowed ? 'allow' : 'forbid', ParticipantEvent.ParticipantPermissionsChanged),
    mutes: () => mutes,
    settled: async (act) => {
      const result = await act;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return result;
    },
  });
  await room.disconnect();
  return lines;
}
