import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { sumOf } from './finding';
import { openFindings } from './finding-queries';

/** Whether findings are open, in a sentence that leads to them. */
export function OpenFindingsLine({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { data, isError } = useQuery(openFindings(clusterName));
  if (data === undefined) {
    return isError ? <StateMark tone="unknown" label={t('openFindings.unknown')} wraps /> : null;
  }
  const { count, worst } = sumOf(data.data);
  if (count === 0) return <StateMark tone="good" label={t('openFindings.none')} wraps />;
  return (
    <Link
      to="/findings"
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      <StateMark
        tone={worst === 'CRITICAL' ? 'bad' : 'warn'}
        label={t(`openFindings.line${worst ?? 'SOME'}`, { count })}
        wraps
      />
    </Link>
  );
}
