import { ConnectionQuality } from 'livekit-client';
import { SignalHigh, SignalLow, SignalMedium, SignalZero } from 'lucide-react';
import { t, type TextKey } from '../text';

const shown: Partial<Record<ConnectionQuality, { Icon: typeof SignalHigh; text: TextKey }>> = {
  [ConnectionQuality.Excellent]: { Icon: SignalHigh, text: 'quality.excellent' },
  [ConnectionQuality.Good]: { Icon: SignalMedium, text: 'quality.good' },
  [ConnectionQuality.Poor]: { Icon: SignalLow, text: 'quality.poor' },
  [ConnectionQuality.Lost]: { Icon: SignalZero, text: 'quality.lost' },
};

/** How well somebody is connected, as far as it is known. */
export function Quality({ of }: { of: ConnectionQuality }) {
  const quality = shown[of];
  if (!quality) return null;
  const { Icon, text } = quality;
  return <Icon className={`quality ${of}`} role="img" aria-label={t(text)} />;
}

/** On a tile only what explains a bad picture is said. */
export const isBad = (quality: ConnectionQuality): boolean =>
  quality === ConnectionQuality.Poor || quality === ConnectionQuality.Lost;
