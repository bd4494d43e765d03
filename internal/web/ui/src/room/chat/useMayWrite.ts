import { useStore } from '../../app/useStore';
import { useCall } from '../call/CallContext';

/** Whether the local participant may write in the chat, and so also react. */
export function useMayWrite(): boolean {
  const call = useCall();
  const { you } = useStore(call.session);
  const presents = useStore(call.presents);
  const { presentersOnly } = useStore(call.facts);
  return you.chat && !you.hide && (presents || !presentersOnly.includes('chat'));
}
