import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Figure } from '@/components/figure';
import { formatBytes, formatDateTime, formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { MessageDetail } from './message';

/** Where the message lies, when it came and from where. */
export function MessageFacts({ message }: { message: MessageDetail['message'] }) {
  const { t } = useTranslation();
  const instant = (told: string | null) =>
    told === null ? <Figure reading={unknown} format={String} /> : formatDateTime(Date.parse(told));
  return (
    <Facts>
      <Fact label={t('message.topic')}>{message.topic}</Fact>
      <Fact
        label={t('message.place')}
        foot={t('message.logPosition', { position: formatInt64(message.logPosition) })}
      >
        {t('message.placeOf', {
          group: message.groupName,
          queue: message.queueId,
          offset: formatInt64(message.queueOffset),
        })}
      </Fact>
      <Fact label={t('message.stored')} foot={message.storeHost}>
        {instant(message.storedAt)}
      </Fact>
      <Fact label={t('message.born')} foot={message.bornHost}>
        {instant(message.bornAt)}
      </Fact>
      <Fact label={t('message.attempts')}>{message.reconsumeTimes}</Fact>
      <Fact label={t('message.size')}>{formatBytes(message.sizeBytes)}</Fact>
    </Facts>
  );
}
