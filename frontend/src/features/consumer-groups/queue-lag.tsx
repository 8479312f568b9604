import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { ConsumerQueue } from './consumer-group';

/** What is left of one queue, what expired unread, and whether the offset is beyond the end. */
export function QueueLag({ queue }: { queue: ConsumerQueue }) {
  const { t } = useTranslation();
  const { lag, expiredCount, aheadCount } = queue;
  if (lag === null) return null;
  if (aheadCount !== null && aheadCount !== '0')
    return (
      <span title={t('groupLag.aheadHint')}>
        {t('groupLag.ahead', { count: formatInt64(aheadCount) })}
      </span>
    );
  if (expiredCount === null || expiredCount === '0') return formatInt64(lag);
  return (
    <>
      {formatInt64(lag)}{' '}
      <span title={t('groupLag.expiredHint')}>
        {t('groupLag.andExpired', { count: formatInt64(expiredCount) })}
      </span>
    </>
  );
}
