import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { Lag } from './consumer-group';

/** How many messages are left; "at least" when some broker or queue is not known. */
export function LagFigure({ lag }: { lag: Lag }) {
  const { t } = useTranslation();
  if (!lag.isApplicable) return <span title={t('groupLag.noLagHint')}>{t('groupLag.noLag')}</span>;
  if (lag.messageCount === null) return <Figure reading={unknown} format={String} />;
  const count = formatInt64(lag.messageCount);
  const figure = lag.isComplete ? (
    count
  ) : (
    <span title={t('groupLag.partHint')}>{t('groupLag.atLeast', { count })}</span>
  );
  if (lag.expiredCount === null || lag.expiredCount === '0') return figure;
  const expired = formatInt64(lag.expiredCount);
  return (
    <>
      {figure}{' '}
      <span title={t('groupLag.expiredHint')}>{t('groupLag.andExpired', { count: expired })}</span>
    </>
  );
}
