import type { StateTone } from '@/components/state-mark';
import type { BrokerGroupMembersQuery, GroupMemberFieldsFragment } from '@/gql/operations';

export type GroupMember = GroupMemberFieldsFragment;
export type GroupMembers = NonNullable<BrokerGroupMembersQuery['brokerGroupMembers']>;

export const phaseTones: Record<GroupMember['phase'], StateTone> = {
  SERVING: 'good',
  ACTING: 'warn',
  STANDING_BY: 'good',
  COMING_ONLINE: 'busy',
  ISOLATED: 'bad',
  SILENT: 'bad',
};
