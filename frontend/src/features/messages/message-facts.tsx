import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Figure } from '@/components/figure';
import { formatBytes, formatClock, formatDateTime, formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { MessageDetail } from './message';

type MessageFactsProps = {
  message: MessageDetail['message'];
  /** Its queue and offset are logical. */
  isStatic: boolean;
};

/** Where the message lies, when it came and from where. */
export function MessageFacts({ message, isStatic }: MessageFactsProps) {
  const { t } = useTranslation();
  const clock = (at: string | null) =>
    at === null ? <Figure reading={unknown} format={String} /> : formatClock(Date.parse(at));
  const day = (at: string | null, host: string) =>
    at === null ? host : `${formatDateTime(Date.parse(at))} · ${host}`;
  return (
    <Facts>
      <Fact label={t('message.topic')}>{message.topic}</Fact>
      <Fact
        label={t('message.group')}
        foot={t('message.logPosition', { position: formatInt64(message.logPosition) })}
      >
        {message.brokerGroupName}
      </Fact>
      <Fact label={t(isStatic ? 'message.logicalPlace' : 'message.place')}>
        {t('message.placeOf', {
          queue: message.queueId,
          offset: formatInt64(message.queueOffset),
        })}
      </Fact>
      <Fact label={t('message.stored')} foot={day(message.storedAt, message.storeHost)}>
        {clock(message.storedAt)}
      </Fact>
      <Fact label={t('message.born')} foot={day(message.bornAt, message.bornHost)}>
        {clock(message.bornAt)}
      </Fact>
      <Fact label={t('message.attempts')}>{message.reconsumeTimes}</Fact>
      <Fact label={t('message.size')}>{formatBytes(message.sizeBytes)}</Fact>
    </Facts>
  );
}
