import { useStore } from '../../app/useStore';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { shortcuts, shortcutsOn, switchShortcuts, type Action } from '../controls/shortcuts';
import type { Actions } from '../controls/useShortcuts';

/** The keys that do something for the local participant, and the switch that turns them all off. */
export function ShortcutsDialog({ actions, onClose }: { actions: Actions; onClose: () => void }) {
  const on = useStore(shortcutsOn);
  const possible = (Object.keys(shortcuts) as Action[]).filter((action) => actions[action]);
  return (
    <Dialog title={t('shortcuts.title')} testId="shortcuts" onClose={onClose} closable>
      <dl className={on ? 'shortcuts' : 'shortcuts off'}>
        {possible.map((action) => (
          <div key={action}>
            <dt>{t(shortcuts[action].text)}</dt>
            <dd>
              <kbd translate="no">{shortcuts[action].key.toUpperCase()}</kbd>
            </dd>
          </div>
        ))}
        {actions.mic && (
          <div>
            <dt>{t('shortcuts.pushToTalk')}</dt>
            <dd>
              <kbd>{t('shortcuts.space')}</kbd>
            </dd>
          </div>
        )}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          data-testid="shortcuts-switch"
          checked={on}
          onChange={(event) => switchShortcuts(event.currentTarget.checked)}
        />
        {t('shortcuts.use')}
      </label>
    </Dialog>
  );
}
