import { useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** The last captions, under the stage. Screen readers find them, and do not read them over the voices. */
export function CaptionLines() {
  const call = useCall();
  const lines = useStore(call.captions.lines);
  const on = useStore(call.view).captions;
  useOffer();
  if (!on || lines.length === 0) return null;
  return (
    <div
      className="captions"
      role="log"
      aria-live="off"
      aria-label={t('captions.title')}
      data-testid="captions"
    >
      {lines.map(({ id, name, text }) => (
        <p key={id} dir="auto">
          {name && <strong translate="no">{name}</strong>} {text}
        </p>
      ))}
    </div>
  );
}

/** Says once that there are captions. */
function useOffer(): void {
  const call = useCall();
  const available = useStore(call.captions.available);
  useEffect(() => {
    if (!available || call.view.get().captions) return;
    const offer = { label: t('captions.show'), accept: () => call.view.setCaptions(true) };
    call.notices.add(t('captions.available'), 'polite', { offer });
  }, [call, available]);
}
