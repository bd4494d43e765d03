import { useEffect, useState, type ComponentType } from 'react';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

interface Closable {
  onClose: () => void;
}

/** A dialog or a panel whose script is loaded when it is opened. Closes again, with a notice, when the script cannot be loaded. */
export function later<Props extends Closable>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function Later(props: Props) {
    const { notices } = useCall();
    const { onClose } = props;
    const [Loaded, setLoaded] = useState<ComponentType<Props>>();
    useEffect(() => {
      let wanted = true;
      load().then(
        (found) => wanted && setLoaded(() => found),
        () => {
          if (!wanted) return;
          notices.add(t('notice.actFailed'), 'urgent');
          onClose();
        },
      );
      return () => void (wanted = false);
      // Once: the script does not change.
      // eslint-disable-next-line react-hooks/exhaustive-deps
    }, []);
    return Loaded ? <Loaded {...props} /> : null;
  };
}
