import { useId, useState } from 'react';
import { characters } from '../../parts/characters';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { FloatingNotices } from '../notices/NoticeList';
import { longestAnnouncement } from '../notices/announcement';

interface AnnounceDialogProps {
  /** Whom it is for. All when absent. */
  to?: { identity: string; name: string };
  onClose: () => void;
}

/** What was written and not sent, by the identity of whom it is for: the dialog closes when that one reconnects. */
const drafts = new Map<string, string>();

/** A notice of a presenter, which is shown over the meeting and read out, also to participants without chat. */
export function AnnounceDialog({ to, onClose }: AnnounceDialogProps) {
  const call = useCall();
  const id = useId();
  const key = to?.identity ?? '';
  const [text, setText] = useState(drafts.get(key) ?? '');
  const [busy, setBusy] = useState(false);
  const excess = characters(text.trim()) - longestAnnouncement;
  const ready = text.trim() !== '' && excess <= 0 && !busy;
  /** The text stays until all have it. */
  const announce = async () => {
    setBusy(true);
    const done = await call.act({
      action: 'announce',
      text: text.trim(),
      ...(to && { identity: to.identity }),
    });
    setBusy(false);
    if (!done) return;
    drafts.delete(key);
    onClose();
  };
  const title = to ? t('announce.titleTo', { name: to.name }) : t('moderate.announce');
  return (
    <Dialog title={title} testId="announce" onClose={onClose}>
      <FloatingNotices />
      <form
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void announce();
        }}
      >
        <div className="field">
          <label htmlFor={id}>{t('announce.text')}</label>
          <textarea
            id={id}
            data-testid="announce-text"
            data-first
            rows={3}
            dir="auto"
            readOnly={busy}
            value={text}
            onChange={({ currentTarget: { value } }) => {
              drafts.set(key, value);
              setText(value);
            }}
          />
          <p className="field-error" role="alert">
            {excess > 0 && t('chat.tooLong', { count: excess })}
          </p>
        </div>
        <div className="dialog-actions">
          <button type="button" className="button quiet" onClick={onClose}>
            {t('controls.cancel')}
          </button>
          <button
            type="submit"
            className="button primary"
            data-testid="announce-send"
            aria-disabled={ready ? undefined : true}
          >
            {t('announce.send')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
