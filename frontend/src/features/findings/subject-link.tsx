import { Link } from '@tanstack/react-router';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import type { Finding } from './finding';

/** What a finding is about: a broker group, a broker of it, or a consumer group. */
export function SubjectLink({ finding: { subject, brokerGroupName } }: { finding: Finding }) {
  if (brokerGroupName !== null)
    return <ReplicaGroupLink brokerGroupName={brokerGroupName}>{subject}</ReplicaGroupLink>;
  return (
    <Link
      to="/consumer-groups/$consumerGroup"
      params={{ consumerGroup: subject }}
      search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
    >
      {subject}
    </Link>
  );
}
