import type { Command } from '../embed';
import type { Call } from '../room/call/call';

/** Does in a call what the embedding page asks: what the participant could do with a button. */
export function obey(call: Call, { command, on }: Command): void {
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
  if (!call.you.hide) void call.switch(command, on);
}
