import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { ActingNotice } from '@/features/group-members/acting-notice';
import { type GroupKey, groupMembersOf } from '@/features/group-members/group-member-queries';
import { MemberTable } from '@/features/group-members/member-table';
import { PlanRefusal } from './plan-refusal';
import { SwitchMode } from './switch-mode';
import { usePlanOrder } from './use-plan-order';

type FixedGroupProps = { groupKey: GroupKey; missing: ReactNode };

/** A group without a controller: its mode, who acts, and what each broker does. */
export function FixedGroup({ groupKey, missing }: FixedGroupProps) {
  const { t } = useTranslation();
  const query = useQuery(groupMembersOf(groupKey));
  const order = usePlanOrder();
  return (
    <QueryView query={query}>
      {({ brokerGroupMembers: group }, observedAtMs) =>
        group === null ? (
          missing
        ) : (
          <>
            <PlanRefusal order={order} />
            <ActingNotice group={group} />
            <Facts>
              <Fact label={t('groupMode.label')} foot={t(`groupMode.${group.mode}Foot`)}>
                {t(`groupMode.${group.mode}`)}
              </Fact>
            </Facts>
            <Panel
              title={t('groupMembers.title')}
              aside={
                <>
                  <Answered atMs={observedAtMs} />
                  <SwitchMode groupKey={groupKey} mode="CONTROLLER" order={order} />
                </>
              }
              flush
            >
              <MemberTable members={group.members} />
            </Panel>
          </>
        )
      }
    </QueryView>
  );
}
