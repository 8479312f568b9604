import type { BrokerGroupMembersQuery, GroupMemberFieldsFragment } from '@/gql/operations';
import type { Answers } from './control-plane';

type Members = NonNullable<BrokerGroupMembersQuery['brokerGroupMembers']>;

export function aMember(
  change: Partial<GroupMemberFieldsFragment> = {},
): GroupMemberFieldsFragment {
  return {
    name: 'broker-a-0',
    address: '127.0.0.1:10911',
    phase: 'SERVING',
    explanation: 'It is the master: it takes messages.',
    nextStep: null,
    lastHeartbeatAt: new Date().toISOString(),
    aliveCount: 2,
    offsetVersion: '4',
    lockCount: 0,
    ...change,
  };
}

/** A group whose master returns while its replica acts. */
export const actingGroup: Members = {
  mode: 'ACTING_MASTER',
  actingBroker: 'broker-a-1',
  actingSince: new Date().toISOString(),
  actingReason: 'The master broker-a-0 (127.0.0.1:10911) is not registered.',
  members: [
    aMember({
      phase: 'COMING_ONLINE',
      explanation: 'It waits until the replica 127.0.0.1:10912 copies its log.',
      nextStep: 'Wait, or remove what is in the way.',
    }),
    aMember({
      name: 'broker-a-1',
      address: '127.0.0.1:10912',
      phase: 'ACTING',
      explanation: 'It acts for the absent master: it serves reads, offsets and locks.',
      lockCount: 3,
    }),
  ],
};

export function groupMembers(group: Members | null): BrokerGroupMembersQuery {
  return { brokerGroupMembers: group };
}

export function groupMemberAnswers(): Answers {
  return { BrokerGroupMembers: () => groupMembers(null) };
}
