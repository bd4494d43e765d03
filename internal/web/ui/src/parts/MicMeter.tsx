import { Mic } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { followVoice } from '../media/level';
import { t } from '../text';

/** Shows that the microphone hears something, also while the participant is muted. */
export function MicMeter({ track }: { track: MediaStreamTrack }) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      followVoice(track, (heard) => {
        const level = Math.round(heard * 100);
        bar.current?.style.setProperty('--level', `${level}%`);
        bar.current?.setAttribute('aria-valuenow', String(level));
      }),
    [track],
  );
  return (
    <div className="mic-level">
      <Mic aria-hidden="true" />
      <div
        ref={bar}
        className="mic-meter"
        role="meter"
        aria-label={t('prejoin.level')}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={0}
        data-testid="mic-level"
      />
    </div>
  );
}
