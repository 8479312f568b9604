import { useTranslation } from 'react-i18next';
import { formatDateTime } from '@/lib/format';
import { Fact } from './fact';
import { StateMark } from './state-mark';

export type Protection = { protectedBy: string; protectedAt: string; reason: string | null };

/** Whether a thing is protected from deletion: by which user, since when, and why. */
export function ProtectionFact({ protection }: { protection: Protection | null }) {
  const { t } = useTranslation();
  if (protection === null) {
    return (
      <Fact label={t('protection.label')}>
        <StateMark tone="idle" label={t('protection.none')} />
      </Fact>
    );
  }
  const { protectedBy: name, protectedAt, reason } = protection;
  const values = { name, at: formatDateTime(Date.parse(protectedAt)), reason };
  return (
    <Fact
      label={t('protection.label')}
      foot={t(reason === null ? 'protection.since' : 'protection.because', values)}
    >
      <StateMark tone="good" label={t('protection.protected')} />
    </Fact>
  );
}
