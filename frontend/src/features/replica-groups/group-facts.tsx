import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { formatCount, formatInt64, formatSeconds } from '@/lib/format';
import { MasterMark } from './master-mark';
import { deadMembers, findMaster, type ReplicaGroup } from './replica-group';
import { SetFigure } from './set-figure';

type GroupFactsProps = { group: ReplicaGroup; observedAtMs: number };

/** Who leads the group, who is in sync, and how long the lease runs. */
export function GroupFacts({ group, observedAtMs }: GroupFactsProps) {
  const { t } = useTranslation();
  const { replicas, syncStateSet, masterId } = group;
  const dead = deadMembers(group);
  const leaseLeftMs = Number(group.leaseLeftMs);
  return (
    <Facts>
      <Fact label={t('replicaGroup.master')} foot={findMaster(group)?.address}>
        <MasterMark group={group} />
      </Fact>
      <Fact label={t('replicaGroup.masterEpoch')} foot={<Answered atMs={observedAtMs} followed />}>
        {formatCount(group.masterEpoch)}
      </Fact>
      <Fact
        label={t('replicaGroup.set')}
        foot={t(`replicaGroup.${footWord(group)}`, {
          epoch: formatCount(group.syncStateSetEpoch),
          inSync: syncStateSet.length,
          total: replicas.length,
          alive: syncStateSet.length - dead.length,
        })}
      >
        <SetFigure
          ids={replicas.map((replica) => replica.brokerId)}
          members={syncStateSet}
          dead={dead}
          masterId={masterId}
        />
      </Fact>
      <Fact label={t('replicaGroup.preferred')} foot={t('replicaGroup.preferredFoot')}>
        {group.preferredId === null
          ? t('replicaGroup.preferredNone')
          : t('designation.replica', { id: group.preferredId })}
      </Fact>
      <Fact label={t('replicaGroup.confirmed')} foot={t('replicaGroup.confirmedFoot')}>
        {!group.confirmedPosition || typeof group.confirmedEpoch !== 'number'
          ? t('replicaGroup.confirmedUnknown')
          : t('replicaGroup.confirmedAt', {
              position: formatInt64(group.confirmedPosition),
              epoch: formatCount(group.confirmedEpoch),
            })}
      </Fact>
      <Fact
        label={t('replicaGroup.protocolVersion')}
        foot={
          group.versionLimit === null
            ? t('replicaGroup.protocolVersionFoot')
            : t('replicaGroup.protocolVersionLimit', { limit: group.versionLimit })
        }
      >
        {group.protocolVersion}
      </Fact>
      <Fact label={t('replicaGroup.lease')} foot={t(`leasePolicy.${group.leasePolicy}`)}>
        {leaseLeftMs > 0
          ? t('replicaGroup.leaseLeft', { span: formatSeconds(leaseLeftMs) })
          : t('replicaGroup.leaseNone')}
      </Fact>
    </Facts>
  );
}

function footWord(group: ReplicaGroup): 'setFoot' | 'setFootSome' | 'setFootNone' {
  const deadCount = deadMembers(group).length;
  if (deadCount === 0) return 'setFoot';
  return deadCount < group.syncStateSet.length ? 'setFootSome' : 'setFootNone';
}
