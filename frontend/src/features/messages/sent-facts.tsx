import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Notice } from '@/components/notice';
import type { SendMessageMutation } from '@/gql/operations';
import { formatBytes, formatInt64 } from '@/lib/format';
import { MessageLink } from './message-link';

/** Where a message that was sent is stored, and the way to it. */
export function SentFacts({ sent }: { sent: SendMessageMutation['sendMessage'] }) {
  const { t } = useTranslation();
  const isSure = sent.state === 'STORED';
  return (
    <>
      <Notice
        tone={isSure ? 'good' : 'warn'}
        title={t(isSure ? 'send.stored' : 'send.unconfirmed')}
      >
        {isSure ? null : t('send.unconfirmedNext', { doubt: sent.doubt })}
      </Notice>
      <Facts>
        <Fact label={t('messages.id')}>
          <MessageLink messageId={sent.messageId} />
        </Fact>
        <Fact label={t('send.uniqueId')}>{sent.uniqueKey}</Fact>
        <Fact label={t('messages.group')}>{sent.brokerGroupName}</Fact>
        <Fact label={t('messages.queue')}>{sent.queueId}</Fact>
        <Fact label={t('messages.offset')}>
          {sent.queueOffset === null ? t('send.delayed') : formatInt64(sent.queueOffset)}
        </Fact>
        <Fact label={t('messages.size')} foot={`SHA-256 ${sent.bodySha256}`}>
          {formatBytes(sent.bodyBytes)}
        </Fact>
      </Facts>
    </>
  );
}
