import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { formatBytes } from '@/lib/format';
import { aheadOf, gapOf, type Replica, type ReplicaGroup } from './replica-group';

/** How far a replica's log is behind its master's, or by how much it is ahead of it. */
export function GapFigure({ replica, group }: { replica: Replica; group: ReplicaGroup }) {
  const { t } = useTranslation();
  const ahead = aheadOf(replica, group);
  if (ahead !== undefined) return t('replicas.ahead', { bytes: formatBytes(ahead) });
  return <Figure reading={gapOf(replica, group)} format={formatBytes} />;
}
