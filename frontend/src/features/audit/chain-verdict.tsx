import { Trans, useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatCount, formatInt64 } from '@/lib/format';
import type { Verification } from './verification';

/** What following the chain has found so far, in words. */
export function ChainVerdict({ found }: { found: Verification }) {
  const { t } = useTranslation();
  const count = formatCount(found.checkedCount);
  if (found.brokenNumber !== null) {
    const label = t('chain.broken', {
      number: formatInt64(found.brokenNumber),
      reason: found.reason,
    });
    return (
      <>
        <StateMark tone="bad" label={label} wraps />
        <p>{t('chain.brokenNext', { count })}</p>
      </>
    );
  }
  if (!found.isComplete) return <StateMark tone="busy" label={t('chain.going', { count })} />;
  return (
    <>
      <StateMark tone="good" label={t('chain.whole', { count })} wraps />
      <p>
        <Trans
          i18nKey="chain.end"
          values={{ number: formatInt64(found.endNumber), hash: found.endHash }}
          components={{ code: <code /> }}
        />
      </p>
    </>
  );
}
