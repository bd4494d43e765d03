import { DoorOpen, Lock } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { Mark } from '../parts/Mark';

/** Says in the header that nobody else comes in. A press says it in a sentence. */
export function LockedMark() {
  const call = useCall();
  const { locked, admission } = useStore(call.facts);
  const presents = useStore(call.presents);
  if (locked) {
    return (
      <Mark
        testId="locked"
        icon={<Lock aria-hidden="true" />}
        word={t('rules.lockedWord')}
        text={t('rules.locked')}
      />
    );
  }
  // Only presenters let people in.
  if (admission === 'Open' || !presents) return null;
  return (
    <Mark
      testId="door"
      icon={<DoorOpen aria-hidden="true" />}
      word={t('waiting.door')}
      text={t(`admission.${admission}`)}
    />
  );
}
