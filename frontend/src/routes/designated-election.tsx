import { useQuery } from '@tanstack/react-query';
import { QueryView } from '@/components/query-view';
import { SkeletonLines } from '@/components/skeleton-lines';
import { DesignationOutcome } from '@/features/replica-groups/designation-outcome';
import type { ReplicaGroup } from '@/features/replica-groups/replica-group';
import {
  designatedElectionOf,
  type GroupKey,
} from '@/features/replica-groups/replica-group-queries';

type DesignatedElectionProps = { group: ReplicaGroup; groupKey: GroupKey; brokerId: string };

/** Asks what would come of electing a certain replica, and says it. */
export function DesignatedElection({ group, groupKey, brokerId }: DesignatedElectionProps) {
  const query = useQuery(designatedElectionOf(groupKey, brokerId));
  return (
    <QueryView query={query} needs="election" skeleton={<SkeletonLines count={1} />}>
      {({ election }) =>
        election === null ? null : (
          <DesignationOutcome brokerId={brokerId} group={group} election={election} />
        )
      }
    </QueryView>
  );
}
