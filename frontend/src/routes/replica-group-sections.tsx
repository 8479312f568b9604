import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { Designation } from '@/features/replica-groups/designation';
import { ElectOrder } from '@/features/replica-groups/elect-order';
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
import { DesignatedElection } from './designated-election';
import { GroupChangesPanel } from './group-changes-panel';
import { PlanRefusal } from './plan-refusal';
import type { ReplicaGroupSearch } from './replica-group-route';
import { usePlanOrder } from './use-plan-order';
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
  const navigate = useNavigate({ from: '/replica-groups/$groupName' });
  const view = useSearch({ from: '/console/replica-groups/$groupName' });
  const mode = view.mode ?? 'GRACEFUL';
  const order = usePlanOrder();
  const epochs = useQuery(groupEpochsOf(groupKey));
  // A figure that is missing is told by the other panels.
  const obstacles = useQuery(groupObstaclesOf(groupKey)).data?.data.lag?.replicas ?? [];
  const change = (part: ReplicaGroupSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
  return (
    <>
      <GroupFacts group={group} observedAtMs={observedAtMs} />
      <Panel title={t('replicas.title')} aside={<Answered atMs={observedAtMs} followed />} flush>
        <Obstacles replicas={obstacles} />
        <ReplicaTable group={group} election={group.election} />
        <Designation
          ids={group.replicas.map((replica) => replica.brokerId)}
          brokerId={view.designate}
          onPick={(designate) => change({ designate })}
          order={
            <ElectOrder
              mode={mode}
              isBusy={order.isBusy}
              onMode={(chosen) => change({ mode: chosen })}
              onPlan={(acceptsLoss) =>
                order.plan({
                  electMaster: {
                    ...groupKey,
                    brokerId: view.designate ?? null,
                    mode,
                    ...(acceptsLoss ? { acceptsLoss } : {}),
                  },
                })
              }
            />
          }
        >
          {view.designate === undefined ? null : (
            <DesignatedElection group={group} groupKey={groupKey} brokerId={view.designate} />
          )}
        </Designation>
        <PlanRefusal order={order} />
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
