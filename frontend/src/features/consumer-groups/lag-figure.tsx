import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { Lag } from './consumer-group';

/** How many messages are left; "at least" when some broker or queue is not known. */
export function LagFigure({ lag }: { lag: Lag }) {
  const { t } = useTranslation();
  if (lag.messageCount === null) return <Figure reading={unknown} format={String} />;
  const count = formatInt64(lag.messageCount);
  if (lag.isComplete) return count;
  return <span title={t('groupLag.partHint')}>{t('groupLag.atLeast', { count })}</span>;
}
