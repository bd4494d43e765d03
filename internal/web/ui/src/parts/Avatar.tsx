import { UserRound } from 'lucide-react';
import { useState } from 'react';
import { httpUrl } from '../boot';
import { hueOf, initials } from './initials';

interface AvatarProps {
  identity: string;
  name: string;
  url?: string | undefined;
}

/**
 * A participant's picture, or the initials when there is no picture or it does not load. It is decoration: the name
 * stands beside it.
 */
export function Avatar({ identity, name, url }: AvatarProps) {
  const [failed, setFailed] = useState<string>();
  const image = httpUrl(url);
  if (name.trim() === '') {
    return (
      <span className="avatar nameless" aria-hidden="true">
        <UserRound />
      </span>
    );
  }
  return (
    <span className="avatar" style={{ '--hue': hueOf(identity) } as React.CSSProperties} aria-hidden="true">
      {image && image !== failed ? (
        <img src={image} alt="" referrerPolicy="no-referrer" onError={() => setFailed(image)} />
      ) : (
        <span translate="no">{initials(name)}</span>
      )}
    </span>
  );
}
