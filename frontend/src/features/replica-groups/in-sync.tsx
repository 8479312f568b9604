import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { deadMembers, type ReplicaGroup } from './replica-group';

/** How many replicas are in the set; where not all of those are alive, how many are. */
export function InSync({ group }: { group: ReplicaGroup }) {
  const { t } = useTranslation();
  const inSync = group.syncStateSet.length;
  const alive = inSync - deadMembers(group).length;
  if (alive === inSync) {
    return t('replicaGroups.inSyncOf', { inSync, total: group.replicas.length });
  }
  return alive === 0 ? (
    <StateMark tone="bad" label={t('replicaGroups.noneAlive', { inSync })} />
  ) : (
    <StateMark tone="warn" label={t('replicaGroups.aliveOf', { alive, inSync })} />
  );
}
