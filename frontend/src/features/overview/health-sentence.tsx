import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';

type HealthSentenceProps = {
  groupCount: number;
  /** How many groups the cluster has; more than were read, where it has very many. */
  groupTotal: number;
  groupsWithoutMaster: string[];
  offlineCount: number;
};

/** The state of the cluster in one sentence, the worst thing first. */
export function HealthSentence(props: HealthSentenceProps) {
  const { groupCount, groupTotal, groupsWithoutMaster, offlineCount } = props;
  const { t } = useTranslation();
  if (groupCount === 0) return <StateMark tone="unknown" label={t('health.empty')} wraps />;
  if (groupsWithoutMaster.length > 0) {
    const names = groupsWithoutMaster.slice(0, 3).join(', ');
    const label = t('health.masterless', { lost: groupsWithoutMaster.length, groupCount, names });
    return <StateMark tone="bad" label={label} wraps />;
  }
  if (groupCount < groupTotal) {
    const label = t('health.unread', { seen: groupCount, total: groupTotal });
    return <StateMark tone="unknown" label={label} wraps />;
  }
  if (offlineCount > 0) {
    return <StateMark tone="warn" label={t('health.offline', { count: offlineCount })} wraps />;
  }
  return <StateMark tone="good" label={t('health.good', { count: groupCount })} wraps />;
}
