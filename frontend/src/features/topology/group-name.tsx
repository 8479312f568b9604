import { ReplicaGroupLink } from '@/components/replica-group-link';
import type { GroupMode } from '@/gql/operations';

/** A broker group's name, which leads to its replicas where a controller elects its master. */
export function GroupName({ name, mode }: { name: string; mode: GroupMode }) {
  return mode === 'CONTROLLER' ? <ReplicaGroupLink brokerGroupName={name} /> : name;
}
