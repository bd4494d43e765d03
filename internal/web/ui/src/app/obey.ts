import type { Command } from '../embed';
import type { Call } from '../room/call/call';

/** Does in a call what the embedding page asks: what the participant could do with a button. */
export function obey(call: Call, { command, on }: Command): void {
  const { sending } = call.publisher;
  const { mic, camera, screen, micAllowed, cameraAllowed, screenAllowed } = sending.get();
  switch (command) {
    case 'watch':
      return;
    case 'leave':
      return call.leave();
    case 'chat': {
      const open = on ?? call.panel.get() !== 'chat';
      if (open) return call.panel.set(call.you.chat ? 'chat' : call.panel.get());
      return call.panel.set(call.panel.get() === 'chat' ? undefined : call.panel.get());
    }
  }
  if (call.you.hidden) return;
  switch (command) {
    case 'microphone':
      if ((on ?? !mic) && !micAllowed) return call.explainLock('microphone');
      return void call.switchMicrophone(on ?? !mic);
    case 'camera':
      if ((on ?? !camera) && !cameraAllowed) return call.explainLock('camera');
      return void call.switchCamera(on ?? !camera);
    case 'screen':
      if ((on ?? !screen) && !screenAllowed) return call.explainLock('screen');
      return void call.publisher.setScreen(on ?? !screen);
  }
}
