import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatAge } from '@/lib/format';
import type { Staleness } from '@/lib/staleness';
import { type OperationSummary, stateTones } from './operation';

type OperationMarkProps = {
  operation: Pick<OperationSummary, 'state' | 'wish'>;
  staleness: Staleness;
};

/** Where an operation stands; once that is old news, only where it was seen last (D21). */
export function OperationMark({ operation, staleness }: OperationMarkProps) {
  const { t } = useTranslation();
  const { state, wish } = operation;
  const wished = wish === null ? '' : `, ${t(`operationWish.${wish}`)}`;
  const word = t(`operationState.${state}`) + wished;
  if (!staleness.isStale) return <StateMark tone={stateTones[state]} label={word} />;
  return (
    <>
      <StateMark tone="unknown" label={t('operation.lastSeen', { state: word })} />{' '}
      {/* It grows every second, which nobody wants to be read aloud. */}
      <span aria-hidden>{t('observed.bare', { age: formatAge(staleness.ageMs) })}</span>
    </>
  );
}
