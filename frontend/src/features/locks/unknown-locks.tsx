import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import type { LocksQuery } from '@/gql/operations';

const shownMax = 5;

type UnknownLocksProps = { unknown: LocksQuery['locks']['unknown'] };

/** Names the brokers whose locks are not known: they are not none (D21). */
export function UnknownLocks({ unknown }: UnknownLocksProps) {
  const { t } = useTranslation();
  if (unknown.length === 0) return null;
  const texts = unknown
    .slice(0, shownMax)
    .map(({ name, address, why }) => `${name} (${address}): ${why}`);
  return (
    <Notice tone="unknown" title={t('locks.unknown', { count: unknown.length })}>
      {texts.join('; ')}
      {unknown.length > shownMax
        ? ` ${t('locks.more', { count: unknown.length - shownMax })}`
        : null}
    </Notice>
  );
}
