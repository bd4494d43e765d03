import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { Panel } from '../parts/Panel';
import { ChatForm } from './ChatForm';
import { Conversation } from './Conversation';

export function ChatPanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { you } = useStore(call.session);
  const presents = useStore(call.presents);
  const { presentersOnly } = useStore(call.facts);
  const silent = presentersOnly.includes('chat') && !presents;
  return (
    <Panel title={t('chat.title')} testId="chat" onClose={onClose}>
      <Conversation />
      {silent && (
        <p className="chat-rule" data-testid="chat-locked">
          {t('rules.only.chat')}
        </p>
      )}
      {!you.hide && !silent && <ChatForm />}
    </Panel>
  );
}
