import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { EpochPanel } from '@/features/replica-groups/epoch-panel';
import { GroupFacts } from '@/features/replica-groups/group-facts';
import { Obstacles } from '@/features/replica-groups/obstacles';
import type { Election, ReplicaGroup } from '@/features/replica-groups/replica-group';
import {
  type GroupKey,
  groupEpochsOf,
  groupObstaclesOf,
} from '@/features/replica-groups/replica-group-queries';
import { ReplicaTable } from '@/features/replica-groups/replica-table';
import { ElectionForm } from './election-form';
import { GroupChangesPanel } from './group-changes-panel';
import type { ReplicaGroupSearch } from './replica-group-route';
import { withinPage } from './within-page';

type ReplicaGroupSectionsProps = {
  group: ReplicaGroup & { election: Election };
  groupKey: GroupKey;
  observedAtMs: number;
};

/** What there is to know about one group, region by region. */
export function ReplicaGroupSections(props: ReplicaGroupSectionsProps) {
  const { group, groupKey, observedAtMs } = props;
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/replica-groups/$brokerGroupName' });
  const view = useSearch({ from: '/console/replica-groups/$brokerGroupName' });
  const epochs = useQuery(groupEpochsOf(groupKey));
  // The other panels show where a figure is missing.
  const obstacles = useQuery(groupObstaclesOf(groupKey)).data?.data.lag?.replicas ?? [];
  const change = (part: ReplicaGroupSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
  return (
    <>
      <GroupFacts group={group} observedAtMs={observedAtMs} />
      <Panel title={t('replicas.title')} aside={<Answered atMs={observedAtMs} followed />} flush>
        <Obstacles replicas={obstacles} />
        <ReplicaTable group={group} election={group.election} />
        <ElectionForm group={group} groupKey={groupKey} />
      </Panel>
      <EpochPanel
        query={epochs}
        view={view.epochs ?? 'lanes'}
        onView={(as) => change({ epochs: as })}
      />
      <GroupChangesPanel groupKey={groupKey} after={view.after} />
    </>
  );
}
