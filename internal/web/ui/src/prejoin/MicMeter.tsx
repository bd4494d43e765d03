import { Mic } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { t } from '../text';
import { loudness } from './loudness';

/** Milliseconds between two readings. A level needs fewer readings than there are frames. */
const every = 80;

/** Shows that the microphone hears something, before the other participants can. */
export function MicMeter({ track }: { track: MediaStreamTrack }) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const context = new AudioContext();
    const source = context.createMediaStreamSource(new MediaStream([track]));
    const analyser = new AnalyserNode(context, { fftSize: 512 });
    source.connect(analyser);
    // Before the first click on the page some browsers keep it asleep.
    const wake = () => void context.resume();
    addEventListener('pointerdown', wake, { once: true });
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const level = Math.round(loudness(samples) * 100);
      bar.current?.style.setProperty('--level', `${level}%`);
      bar.current?.setAttribute('aria-valuenow', String(level));
    }, every);
    return () => {
      clearInterval(timer);
      removeEventListener('pointerdown', wake);
      void context.close();
    };
  }, [track]);
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
