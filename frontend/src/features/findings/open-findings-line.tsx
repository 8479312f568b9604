import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { SeenMark } from '@/components/seen-mark';
import { StateMark } from '@/components/state-mark';
import { staleAfterMs } from '@/lib/intervals';
import { useStaleness } from '@/lib/staleness';
import { sumOf } from './finding';
import { openFindings } from './finding-queries';

/** Whether findings are open, in a sentence that leads to them. */
export function OpenFindingsLine({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const query = useQuery(openFindings(clusterName));
  const staleness = useStaleness(query, staleAfterMs);
  const { data, isError } = query;
  if (data === undefined) {
    return isError ? <StateMark tone="unknown" label={t('openFindings.unknown')} wraps /> : null;
  }
  const { count, worst } = sumOf(data.data);
  if (count === 0) {
    return <SeenMark tone="good" sentence={t('openFindings.none')} staleness={staleness} />;
  }
  return (
    <Link
      to="/findings"
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      <SeenMark
        tone={worst === 'CRITICAL' ? 'bad' : 'warn'}
        sentence={t(`openFindings.line${worst ?? 'SOME'}`, { count })}
        staleness={staleness}
      />
    </Link>
  );
}
