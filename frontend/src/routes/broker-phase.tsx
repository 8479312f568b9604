import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { ActingNotice } from '@/features/group-members/acting-notice';
import { type GroupKey, groupMembersOf } from '@/features/group-members/group-member-queries';
import { PhaseWords } from '@/features/group-members/phase-words';

type BrokerPhaseProps = { groupKey: GroupKey; brokerName: string };

/** What a broker of a group without a controller does, and what it waits for. */
export function BrokerPhase({ groupKey, brokerName }: BrokerPhaseProps) {
  const { t } = useTranslation();
  const query = useQuery(groupMembersOf(groupKey));
  return (
    <QueryView query={query}>
      {({ brokerGroupMembers: group }, observedAtMs) => {
        const member = group?.members.find(({ name }) => name === brokerName);
        if (!group || !member) return null;
        return (
          <>
            {group.actingBroker === brokerName ? <ActingNotice group={group} /> : null}
            <Panel title={t('groupMembers.own')} aside={<Answered atMs={observedAtMs} />}>
              <PhaseWords member={member} />
            </Panel>
          </>
        );
      }}
    </QueryView>
  );
}
