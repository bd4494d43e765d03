import { useParticipants } from '@livekit/components-react';
import { RoomEvent } from 'livekit-client';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

const counted = [RoomEvent.ParticipantAttributesChanged];

/** How many are in, how many of them ask a presenter for something, and the words for it. */
export function useAttention(): { people: number; asking: number; text: string } {
  const call = useCall();
  const { you } = useStore(call.session);
  const presents = useStore(call.presents);
  const participants = useParticipants({ updateOnlyOn: counted });
  const seen = participants.filter(({ isLocal, identity }) => identity !== '' && !(isLocal && you.hide));
  const hands = seen.filter(({ isLocal, attributes }) => !isLocal && attributes.hand === 'true').length;
  const { count: waiting } = useStore(call.watchers.waiting);
  const asking = presents ? hands + waiting : 0;
  const words = [t('people.count', { count: seen.length })];
  if (presents && hands > 0) words.push(t('controls.hands', { count: hands }));
  if (presents && waiting > 0) words.push(t('waiting.count', { count: waiting }));
  return { people: seen.length, asking, text: words.join(', ') };
}
