import { ConnectionQuality } from 'livekit-client';
import { t, type TextKey } from '../../text';

const shown: Partial<Record<ConnectionQuality, { bars: number; text: TextKey }>> = {
  [ConnectionQuality.Excellent]: { bars: 3, text: 'quality.excellent' },
  [ConnectionQuality.Good]: { bars: 2, text: 'quality.good' },
  [ConnectionQuality.Poor]: { bars: 1, text: 'quality.poor' },
  [ConnectionQuality.Lost]: { bars: 0, text: 'quality.lost' },
};

/** How well a participant is connected, as far as it is known. */
export function Quality({ of }: { of: ConnectionQuality }) {
  const quality = shown[of];
  if (!quality) return null;
  const { bars, text } = quality;
  return (
    <svg className={`quality ${of}`} viewBox="0 0 16 16" role="img" aria-label={t(text)}>
      {[1, 2, 3].map((bar) => (
        <rect
          key={bar}
          className={bar <= bars ? undefined : 'missing'}
          x={bar * 5 - 4}
          y={15 - bar * 4.5}
          width="4"
          height={bar * 4.5}
          rx="1"
        />
      ))}
    </svg>
  );
}

/** Whether a tile shows the quality: only when it explains a bad picture. */
export const isBad = (quality: ConnectionQuality): boolean =>
  quality === ConnectionQuality.Poor || quality === ConnectionQuality.Lost;
