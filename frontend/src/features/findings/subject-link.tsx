import { Link } from '@tanstack/react-router';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { type Finding, groupOf, isOfConsumers } from './finding';

/** What a finding is about: a broker group, a broker of it, or a consumer group. */
export function SubjectLink({ finding }: { finding: Finding }) {
  if (!isOfConsumers(finding))
    return (
      <ReplicaGroupLink brokerGroupName={groupOf(finding)}>{finding.subject}</ReplicaGroupLink>
    );
  return (
    <Link
      to="/consumer-groups/$consumerGroup"
      params={{ consumerGroup: finding.subject }}
      search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
    >
      {finding.subject}
    </Link>
  );
}
